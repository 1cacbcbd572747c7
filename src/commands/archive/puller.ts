import { usage } from '../../core/failure.ts';
import { otherAccount, otherAccounts, type Puller } from '../../jobs/archive/pull-order.ts';
import { textField, type Fields } from '../../schema/field.ts';
import { isSameName } from '../../schema/topic.ts';
import type { Accounts, Invocation, Services, Terminal } from '../context.ts';
import { lastingSite } from './folder.ts';

const asked = 'ask';

export const adoptOption = {
  adopt: {
    ...textField('ADDRESS', 'Go on with the archive of another account; without a terminal give its address'),
    bare: asked,
  },
} as const satisfies Fields;

/** Who pulls, once it may go on with all these folders: before anything is written. @throws Failure config, usage */
export async function agreedPuller(
  folders: readonly string[],
  adopt: string | undefined,
  context: Invocation & Services & Accounts & Terminal,
): Promise<Puller> {
  const { site, email: account } = await context.chatAccount();
  const user = context.options.dry_run ? undefined : await context.chat().ownUser();
  const id = typeof user?.['user_id'] === 'number' ? { account_id: user['user_id'] } : {};
  const puller = { site: lastingSite(context.options, site), account, ...id };
  const others = await otherAccounts(folders, puller);
  if (others.length === 0) return puller;
  const owners = others.join(',');
  if (adopt === undefined) throw otherAccount({ site: puller.site, account: owners }, puller);
  if (adopt === asked && context.interactive())
    await context.confirm(`The archive belongs to ${owners}. Go on with it as ${account}?`);
  else if (!isSameName(adopt, owners))
    throw usage(`--adopt: the archive belongs to ${owners}`, `Write: --adopt=${owners}`);
  return { ...puller, adopts: true };
}
