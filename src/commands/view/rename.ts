import { usage } from '../../core/failure.ts';
import { each } from '../../jobs/work/each.ts';
import { namingIgnored, withNearViews } from '../../jobs/view/named-views.ts';
import { readRenamings, renameView } from '../../jobs/view/rename-view.ts';
import { flagField } from '../../schema/field.ts';
import { command } from '../command.ts';
import type { Disk } from '../context.ts';
import { defaultRetries } from '../environment.ts';
import { aboutBuiltIn } from './pin.ts';

export default command({
  about: [
    'To rename several views, give several pairs of FRAGMENT and NAME, or - alone, and a pair on each line of standard input: the ' +
      'fragment, a blank, the name. A view that has the name already is unchanged. With --pin or --hide the views are pinned or hidden ' +
      'in the same requests.',
    aboutBuiltIn,
  ],
  args: {
    renaming: {
      kind: 'string',
      many: true,
      required: true,
      file: true,
      placeholder: 'FRAGMENT NAME',
      suggest: 'views',
      help: 'A view and its new name',
    },
  },
  options: { pin: flagField('Pin them too'), hide: flagField('Hide them too') },
  examples: ["chatelaine view rename narrow/is/alerted 'My words' --pin"],

  rules: [{ option: 'pin', excludes: ['hide'] }],

  dryRun: ['requests'],

  async *rows({ renaming, pin, hide }, { chat, chatAccount, disk, options, clock }) {
    const is_pinned = pin ? true : hide ? false : undefined;
    const api = chat();
    const renamings = await readRenamings(await wordsOf(renaming, disk), api, { chatAccount });
    const how = { retries: options.retries ?? defaultRetries, sleep: clock.sleep };
    const renameOne = async ({ fragment, name }: (typeof renamings)[number]) => {
      const orNear = async (cause: unknown): Promise<never> => {
        throw await withNearViews(cause, fragment, api);
      };
      const { ignored, status } = await renameView(api, fragment, { name, is_pinned }, how).catch(orNear);
      return { ignored, row: { fragment, name, ...(is_pinned === undefined ? {} : { is_pinned }), status } };
    };
    yield* namingIgnored(each(renamings, ({ fragment }) => fragment, renameOne));
  },

  show: {
    columns: ['fragment', 'name', 'is_pinned', 'status'],
    line: ({ fragment, name, status }) => `${fragment} is named '${name}' (${status})`,
  },
});

/** The typed words, `-` replaced: alone by the pairs on standard input, as one of two words by its first line. */
async function wordsOf(words: readonly string[], input: Pick<Disk['disk'], 'read'>): Promise<readonly string[]> {
  const asking = words.filter((word) => word === '-').length;
  if (asking === 0) return words;
  if (asking > 1 || words.length > 2)
    throw usage('- is standard input: give it alone for many pairs, or once instead of a fragment or a name');
  const lines = (await input.read('-')).split(/\r?\n/).filter((line) => line.trim() !== '');
  const [first] = lines;
  if (first === undefined) throw usage('standard input is empty');
  if (words.length === 2) return words.map((word) => (word === '-' ? first : word));
  return lines.flatMap((line) => [line.trim().split(/\s/, 1)[0] ?? '', line.trim().replace(/^\S+\s*/, '')]);
}
