import { ifAnswered } from '../../core/failure.ts';
import { namesOf, urlOf, type Profile } from '../../schema/profile.ts';
import { whole } from '../../output/columns.ts';
import { command } from '../command.ts';

export default command({
  about: ['Works offline, and shows no key. If a key is unusable, auth status says why.'],
  examples: ['chatelaine auth list', 'chatelaine auth list -o json'],

  async rows(_values, context) {
    const profiles = context.accounts.profiles();
    const defaults = await profiles.defaults();
    const stored = await profiles.all();
    if (stored.length === 0) context.note('no profile is stored; chatelaine auth login stores one');
    const rows = stored.map(async (profile) => ({
      profile: profile.name,
      kind: profile.kind,
      url: urlOf(profile),
      ...namesOf(profile),
      default: defaults[profile.kind] === profile.name,
      read_only: profile.read_only ?? false,
      key: (await ifAnswered(profiles.secretsOf(profile))) ? keyPlaceOf(profile) : 'unusable',
    }));
    return Promise.all(rows);
  },

  show: {
    columns: [...whole('profile'), 'kind', ...whole('url', 'app_code', 'email'), 'default', 'read_only', 'key'],
  },
});

function keyPlaceOf({ key_command }: Profile): string {
  return key_command === undefined ? 'stored' : 'command';
}
