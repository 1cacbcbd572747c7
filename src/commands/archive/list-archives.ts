import { archivesBelow, archivesIn, countMessages, inspectArchive, isGap } from '../../store/archive/archive.ts';
import { lastWritten } from '../../store/archive/archive-head.ts';
import { uncut, whole } from '../../output/columns.ts';
import { textField } from '../../schema/field.ts';
import { command } from '../command.ts';

export default command({
  about: [
    'Lists the archives in DIR and below: server, account, selection as given, messages, when the last pull or deletion ended, and whether the pull reached its end ' +
      '(complete). topic history lists deletions.',
    'Works offline and does not read the messages; archive verify checks them.',
  ],
  args: {
    folder: textField('DIR', 'Folder of archives (default: the state folder, where topic delete keeps its archives)'),
  },
  examples: ['chatelaine archive list', 'chatelaine archive list everything'],

  async *rows({ folder }, { disk }) {
    for (const own of folder === undefined ? await archivesBelow(disk.files().state) : await archivesIn(folder)) {
      const archive = await inspectArchive(own);
      const { head, problems } = archive;
      yield {
        folder: own,
        site: head.site,
        account: head.account,
        selection: head.options,
        messages: countMessages(archive),
        last_pull: (await lastWritten(own)) ?? null,
        complete: !problems.some(isGap),
      };
    }
  },

  show: {
    columns: [
      ...whole('folder'),
      ...uncut('site', 'account'),
      { name: 'selection', keep: 1 },
      ...'messages last_pull complete'.split(' '),
    ],
    none: 'There is no archive.',
  },
});
