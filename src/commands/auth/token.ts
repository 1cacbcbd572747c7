import { usage } from '../../core/failure.ts';
import type { ChatCredential, LicensingCredential } from '../../store/account/credentials.ts';
import { command } from '../command.ts';
import type { Accounts } from '../context.ts';
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
    const { key, profile } = await credentialFor(name ?? context.options.profile, context);
    return { profile: profile ?? 'environment', api_key: key.reveal() };
  },

  show: { columns: ['profile', 'api_key'], text: ({ api_key }) => api_key },
});

async function credentialFor(
  name: string | undefined,
  context: Accounts,
): Promise<LicensingCredential | ChatCredential> {
  if (name === 'licensing') return context.licensingAccount();
  if (name === 'chat') return context.chatAccount();
  if (name !== undefined) return context.accounts.credentialOf(name);
  throw usage('give a profile, licensing or chat', 'chatelaine auth list shows the profiles.');
}
