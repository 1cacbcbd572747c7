import { isDeepStrictEqual } from 'node:util';
import type { ChatApi } from '../../api/chat/chat.ts';
import { Failure, ifAnswered, usage } from '../../core/failure.ts';
import { parseJson, writeJson, isObject, type JsonObject } from '../../core/json.ts';
import { isSameName, topicLevels } from '../../schema/topic.ts';
import type { OpenArchive } from '../../store/archive/open-archive.ts';
import { archiveVersion, readHead, type ArchiveHead } from '../../store/archive/archive-head.ts';
import type { ArchiveForm } from '../../store/archive/part.ts';
import { partsOf, type MessageSelection } from '../../schema/selection.ts';

/** Who pulls. An account is its user id if the server reports it, since its address may change. */
export interface Puller {
  readonly site: string;
  readonly account: string;
  readonly account_id?: number | undefined;
  /** True if the pull continues the archive of another account. */
  readonly adopts?: boolean;
}

export interface PullOrder extends Puller {
  /** The options of the selection as typed; none where the archive has its selection already. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly selection: () => MessageSelection;
  /** The requested forms; empty for those that the archive has, or the rendered form of a new archive. */
  readonly forms: readonly ArchiveForm[];
  readonly files?: boolean | undefined;
}

/** The head of the archive, or of a new one, which is not yet written. @throws Failure as `refuseOtherOrder` */
export async function headFor(chat: ChatApi, archive: OpenArchive, order: PullOrder) {
  const old = archive.head;
  if (!old) {
    const { site, account, account_id, options } = order;
    const selection = order.selection();
    const forms = order.forms.length > 0 ? order.forms : (['rendered'] as const);
    const [organization, level] = [await chat.organization(), await chat.level()];
    const allow_empty_topic_name =
      selection.form.allow_empty_topic_name ?? ((level ?? 0) >= topicLevels.emptyTopic || undefined);
    const isNamed = selection.narrow.some((term) => channelNamed(term) !== undefined);
    const rows = isNamed ? await ifAnswered(chat.channels()) : undefined;
    const asked = withChannelIds({ ...selection, form: { ...selection.form, allow_empty_topic_name } }, rows);
    const given = { options, selection: asked, forms, files: order.files === true, history_limited: false };
    const head = { archive: archiveVersion, site, organization, level, account, account_id, ...given } as const;
    return head satisfies ArchiveHead;
  }
  refuseOtherOrder(old, archive.folder, order);
  const { account, account_id = isOfAccount(old, order) ? old.account_id : undefined } = order;
  const adopted = isOfAccount(old, order) ? old.adopted : archive.parts.at(-1)?.part;
  const files = old.files || order.files === true;
  const head = { ...old, account, account_id, adopted, files };
  if (writeJson(head) === writeJson({ ...old, account_id: old.account_id, adopted: old.adopted })) return old;
  await archive.setHead(head);
  return head;
}

function channelNamed(term: unknown): string | undefined {
  const [operator, operand] = partsOf(term);
  return (operator === 'channel' || operator === 'stream') && typeof operand === 'string' ? operand.trim() : undefined;
}

/** Replaces the names of channels by their ids, where the server lists them: a name may pass to another channel. */
function withChannelIds(selection: MessageSelection, listed: readonly JsonObject[] = []) {
  const narrow = selection.narrow.map((term) => {
    const name = channelNamed(term);
    const found = listed.find((channel) => name !== undefined && isSameName(String(channel['name']), name));
    const operand = found?.['stream_id'];
    return typeof operand === 'number' ? { operator: 'channel', ...(isObject(term) && term), operand } : term;
  });
  return { ...selection, narrow };
}

function isOfAccount(head: Pick<ArchiveHead, 'account' | 'account_id'>, { account, account_id }: Puller): boolean {
  const isKnown = head.account_id !== undefined && account_id !== undefined;
  return isKnown ? head.account_id === account_id : isSameName(head.account, account);
}

/** The accounts, other than the one that pulls, whose archives are in these folders. @throws Failure config */
export async function otherAccounts(folders: readonly string[], puller: Puller): Promise<readonly string[]> {
  const others = new Set<string>();
  for (const folder of folders) {
    const head = await readHead(folder);
    if (head && head.site !== puller.site) throw otherAccount(head, puller);
    if (head && !isOfAccount(head, puller)) others.add(head.account);
  }
  return [...others];
}

/** The failure for an archive of another account. `adopting`: the command that continues it all the same. */
export function otherAccount(
  head: Pick<ArchiveHead, 'site' | 'account'>,
  { site, account }: Puller,
  adopting?: string,
): Failure {
  const adoption = adopting === undefined ? '' : ` To continue it as ${account}: ${adopting}`;
  return new Failure(
    'config',
    `the archive belongs to ${head.account} at ${head.site}; this account is ${account} at ${site}`,
    { hint: `Choose the profile of that account with --profile, or pull into another folder.${adoption}` },
  );
}

/** @throws Failure config for another site or account, usage for another selection or form */
function refuseOtherOrder(head: ArchiveHead, folder: string, order: PullOrder): void {
  const { options, forms, site, adopts } = order;
  // Ids mean nothing on another site.
  if (head.site !== site || !(adopts || isOfAccount(head, order))) throw otherAccount(head, order);
  if (Object.keys(options).length > 0 && !isDeepStrictEqual(head.options, parseJson(writeJson(options))))
    throw usage(
      `the archive ${folder} was started with another selection: ${writeJson(head.options)}`,
      'To continue it, give the folder alone.',
    );
  const lacking = forms.find((form) => !head.forms.includes(form));
  if (lacking) throw usage(`the archive ${folder} does not hold the ${lacking} form`, otherForm);
}

/** A second form cannot be added, since two forms of a message have to be fetched together, in one version. */
export const otherForm = 'Pull into another folder, with --both: an archive has the forms of its first pull.';
