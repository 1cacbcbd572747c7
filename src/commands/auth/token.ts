import { usage } from '../../core/failure.ts';
import { command } from '../command.ts';
import { flagField, textField } from '../../schema/field.ts';

export default command({
  about: ['Prints the key for another program, such as curl. licensing and chat mean the credential in use.'],
  args: {
    name: {
      ...textField('NAME|licensing|chat', 'A profile, or the kind whose credential is in use'),
      suggest: 'profiles',
    },
  },
  options: { headers: flagField('Print the lines of --header-file instead, for curl --header @FILE') },
  examples: ['chatelaine auth token prod', 'chatelaine --sandbox auth token licensing'],

  async run({ name, headers: areWanted }, context) {
    const chosen = name ?? context.options.profile;
    if (chosen === undefined)
      throw usage('give a profile, licensing or chat', 'chatelaine auth status shows the profiles.');
    const isKind = chosen === 'licensing' || chosen === 'chat';
    const inUse = chosen === 'chat' ? context.chatAccount : context.licensingAccount;
    const account = await (isKind ? inUse() : context.accounts.credentialOf(chosen));
    const { key, profile = 'environment', headers = {} } = account;
    const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value.reveal()}`);
    return areWanted ? { profile, headers: lines.join('\n') } : { profile, api_key: key.reveal() };
  },

  show: { columns: ['profile', 'api_key'], text: ({ api_key, headers }) => api_key ?? headers },
});
