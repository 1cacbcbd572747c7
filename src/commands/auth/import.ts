import { shellWord } from '../../core/shell-word.ts';
import { headerFile, profileSettings } from '../../schema/profile.ts';
import { labelled } from '../../core/failure.ts';
import { readZuliprc } from '../../store/account/secrets.ts';
import { fileArgument, textField } from '../../schema/field.ts';
import { command } from '../command.ts';
import { headersFrom, hostName, mergeWithStored, storeProfile, typedName } from './account.ts';

export default command({
  about: [
    'A zuliprc file is what the chat offers for download where it shows your API key. The key is checked before anything is stored.',
  ],
  args: { file: fileArgument('FILE', 'The zuliprc file') },
  options: {
    name: textField('NAME', 'Name of the profile (default: the host of the site)'),
    ...profileSettings.chat,
    header_file: headerFile,
    check: { kind: 'boolean', negatable: true, help: 'Check the key before it is stored (default: yes)' },
  },
  examples: ['chatelaine auth import zuliprc --name work --no-check'],

  dryRun: ['rows'],

  async run({ file, name: typed, check, header_file, ...settings }, context) {
    const name = typedName(typed, context);
    const text = await context.disk.read(file);
    const { site, email, key } = labelled(file, () => readZuliprc(text));
    const candidate = { kind: 'chat' as const, name: name ?? hostName(site), site, email, ...settings };
    if (file !== '-' && (await context.keys.othersCanRead(file)))
      context.warn(`${file} holds a key and can be read by other users. Run:\nchmod 600 ${shellWord(file)}`);
    const profile = await mergeWithStored(candidate, context);
    return storeProfile(profile, { key, headers: await headersFrom(header_file, profile, context) }, check, context);
  },

  show: { columns: ['profile', 'kind', 'status'], line: ({ profile, status }) => `Profile ${profile}: ${status}` },
});
