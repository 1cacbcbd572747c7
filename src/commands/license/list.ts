import type { License } from '../../api/licensing/license.ts';
import { Failure, usage } from '../../core/failure.ts';
import { optional } from '../../schema/field.ts';
import { licenseFields } from '../../schema/license.ts';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { keyAlone, licenseShow } from './show.ts';

const { remote_user, app_code } = licenseFields;

export default command({
  name: 'license list',
  summary: 'List licenses',
  about: ['Without filters, every license of the application is listed.'],
  options: {
    ...optional({ remote_user, app_code }),
    all_apps: {
      kind: 'boolean',
      help: 'Ask with the key of every stored application; one that fails is named, and the exit code is 8',
    },
    limit: { kind: 'integer', min: 1, placeholder: 'N', help: 'At most so many (default: all)' },
  },
  examples: [
    'chatelaine license list',
    'chatelaine license list --remote-user physio-7731 -o json',
    'chatelaine license list --all-apps',
  ],

  async *run({ all_apps, limit = Infinity, ...filter }, context) {
    if (all_apps && filter.app_code !== undefined) throw usage('--all-apps and --app-code exclude each other');
    if (all_apps && context.options.profile !== undefined) throw usage('--all-apps and --profile exclude each other');
    let left = limit;
    for await (const license of all_apps ? everyApp(filter, context) : context.licensing(filter).list(filter)) {
      yield license;
      left -= 1;
      if (left === 0) return;
    }
  },

  show: { ...licenseShow, ...keyAlone },
});

/** Each stored application in turn; those that fail do not keep the others from being listed. */
async function* everyApp(filter: { readonly remote_user?: string }, context: Context): AsyncGenerator<License> {
  const apps = await context.licensingApps();
  if (apps.length === 0)
    throw new Failure('config', 'no licensing application is stored', {
      hint: 'Store one: chatelaine auth login licensing.',
    });
  const failed: string[] = [];
  for (const app of apps) {
    try {
      yield* context.licensingAs(await app.credential()).list(filter);
    } catch (cause) {
      if (!(cause instanceof Failure) || cause.kind === 'cancelled' || cause.kind === 'terminated') throw cause;
      failed.push(`${app.profile}: ${cause.message}`);
    }
  }
  if (failed.length > 0)
    throw new Failure('incomplete', [`${failed.length} of ${apps.length} applications failed`, ...failed].join('\n'));
}
