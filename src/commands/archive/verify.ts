import { Failure } from '../../core/failure.ts';
import { shellWord } from '../../core/shell-word.ts';
import { inspectArchive } from '../../store/archive/archive.ts';
import { isKeptAside } from '../../store/archive/damaged-file.ts';
import { filesOfNextPart, problemsOf, type ArchiveProblem } from '../../store/archive/verify-archive.ts';
import { command } from '../command.ts';
import { folderArgument } from './folder.ts';
import { limitedHistory } from './limited-history.ts';

export default command({
  about: [
    'Reads every part and compares it with the list of parts: size, SHA-256, the ids of its messages and their order. Each problem is a ' +
      'row, and any problem is exit code 10. It asks no server: what is new, edited or deleted there is the business of archive pull.',
    'archive pull DIR fetches the messages of damaged or missing files again, and makes lines that the list of parts, parts.ndjson, lost from ' +
      'the files of the parts, where these are whole. A damaged file that a repair kept aside, because the server no longer had all its messages, is a problem until it is moved away.',
  ],
  args: { folder: folderArgument },
  examples: ['chatelaine archive verify kitchen'],

  async *run({ folder }, { conclude, warn }) {
    const archive = await inspectArchive(folder);
    const hints = new Set<string>();
    let count = 0;
    for await (const problem of problemsOf(archive)) {
      count += 1;
      hints.add(hintOf(problem, folder));
      yield problem;
    }
    if (archive.head.history_limited) warn(limitedHistory);
    for (const file of filesOfNextPart(archive))
      warn(`${file} has no line in parts.ndjson yet, so its messages do not count: run archive pull`);
    const messages = archive.parts.reduce((sum, part) => sum + part.count, 0);
    conclude(
      `${messages} messages, parts: ${archive.parts.length}; ${count === 0 ? 'no problem' : `problems: ${count}`}`,
    );
    if (count === 0) return;
    for (const hint of hints) conclude(hint);
    throw new Failure('differences', `${count} problems`);
  },

  show: { columns: ['part', 'file', 'problem', 'ids'] },
});

function hintOf({ file }: ArchiveProblem, folder: string): string {
  if (isKeptAside(file)) return `Look at the files that end in .damaged, and move them out of ${folder}.`;
  return `Run: chatelaine archive pull ${shellWord(folder)}`;
}
