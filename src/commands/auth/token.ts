import { usage } from '../../core/failure.ts';
import { command } from '../command.ts';
import { textField } from '../../schema/field.ts';

export default command({
  about: ['Prints the key for another program, such as curl. licensing and chat mean the credential in use.'],
  args: {
    name: {
      ...textField('NAME|licensing|chat', 'A profile, or the kind whose credential is in use'),
      suggest: 'profiles',
    },
  },
  examples: ['chatelaine auth token prod', 'chatelaine --sandbox auth token licensing'],

  async run({ name }, context) {
    const chosen = name ?? context.options.profile;
    if (chosen === undefined)
      throw usage('give a profile, licensing or chat', 'chatelaine auth list shows the profiles.');
    const isKind = chosen === 'licensing' || chosen === 'chat';
    const inUse = chosen === 'chat' ? context.chatAccount : context.licensingAccount;
    const { key, profile } = await (isKind ? inUse() : context.accounts.credentialOf(chosen));
    return { profile: profile ?? 'environment', api_key: key.reveal() };
  },

  show: { columns: ['profile', 'api_key'], text: ({ api_key }) => api_key },
});
