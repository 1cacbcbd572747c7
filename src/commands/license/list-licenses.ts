import { textOf } from '../../api/licensing/license.ts';
import { matchesGlob } from '../../core/glob.ts';
import { inOrder, orderOf } from '../../output/sort.ts';
import { licenseExtras, licenseFilters } from '../../schema/license.ts';
import { command } from '../command.ts';
import { allAppsOption, licensesOf, refuseChosenApp } from './apps.ts';
import { keyAlone, licenseShow } from './show.ts';

export default command({
  about: [
    'Without filters, every license of the application is listed. A list that the server shows only in part is printed as far as it ' +
      'came, with exit code 8; --limit asks for a part, after --sort. A key of another application than the profile or --app-code says is exit code 4.',
  ],
  options: {
    ...licenseFilters,
    ...allAppsOption,
    match: {
      kind: 'string',
      many: true,
      nonempty: true,
      placeholder: 'GLOB',
      help: "Only users whose name matches, as in 'physio-*'; * is any text, ? one character",
    },
    limit: { kind: 'integer', min: 1, placeholder: 'N', help: 'Maximum number of licenses' },
  },
  examples: [
    'chatelaine license list',
    'chatelaine license list --remote-user physio-7731 -o json',
    "chatelaine license list --match 'physio-*' --limit 20",
    'chatelaine license list --all-apps',
  ],

  async *run({ all_apps, match, limit, ...filter }, context) {
    if (all_apps) refuseChosenApp(filter.app_code, context.options);
    const { sort } = context.options;
    const extent = limit === undefined || sort !== undefined ? 'whole' : 'part';
    const listed = licensesOf({ ...filter, all_apps }, extent, context);
    const licenses = sort === undefined || limit === undefined ? listed : inOrder(listed, orderOf(sort), licenseShow);
    let count = 0;
    for await (const license of licenses) {
      if (match && !matchesGlob(match, textOf(license, 'remote_user') ?? '')) continue;
      yield license;
      count += 1;
      if (count === limit) return;
    }
    const [name = '*', ...others] = match ?? [];
    if (count === 0 && others.length === 0 && !/[*?]/.test(name))
      context.note(`no user is named '${name}'; --match '*${name}*' finds it in names`);
  },

  fields: licenseExtras,

  show: { ...licenseShow, ...keyAlone },
});
