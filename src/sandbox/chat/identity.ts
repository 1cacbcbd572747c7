import type { Organization, User } from '../records.ts';
import type { State } from '../state.ts';
import type { UserCall } from './chat-call.ts';
import { levels } from './levels.ts';
import { Refusal, tooMany } from './refusal.ts';
import { strip } from './parameters.ts';

/** The right password is refused too after five wrong ones. @throws Refusal (docs/apis.md, Settings) */
export function changePassword(call: UserCall, wanted: string | undefined, present = ''): void {
  if (wanted === undefined) return;
  if (call.organization.passwords_in_ldap) throw new Refusal('Your Zulip password is managed in LDAP');
  const { user, clock, allowance } = call;
  const attempts = `password ${user.user_id}`;
  const { wait } = allowance(attempts, [{ calls: 5, span: 1_800_000 }], clock.now());
  if (wait !== undefined)
    throw new Refusal(`You're making too many attempts! Try again in ${Math.ceil(wait)} seconds.`);
  if (present !== user.password) throw new Refusal('Wrong password!');
  allowance.forget(attempts);
  // The sandbox's own version of the server's estimate.
  if (wanted.length < 6 || new Set(wanted).size < 4) throw new Refusal('New password is too weak!');
  update(call, { password: wanted });
}

/** Starts the confirmation of a new address, and changes nothing else. @throws Refusal (docs/apis.md, Settings) */
export function changeEmail(call: UserCall, wanted: string | undefined): void {
  const { user, organization, state, allowance, clock } = call;
  const email = wanted === undefined ? undefined : strip(wanted);
  if (email === undefined || email === user.email) return;
  if (organization.email_changes_disabled && user.role !== 'administrator') {
    throw new Refusal('Email address changes are disabled in this organization.');
  }
  checkAddress(email, organization, state);
  const rules = [
    { calls: 2, span: 3_600_000 },
    { calls: 5, span: 86_400_000 },
  ];
  const verdict = allowance(`email ${user.user_id}`, rules, clock.now());
  if (verdict.wait !== undefined) throw tooMany(verdict.wait);
  update(call, { pending_email: email });
}

function checkAddress(email: string, { email_domains }: Organization, state: State): void {
  if (!isAddress(email)) throw new Refusal('Invalid address.');
  const at = email.lastIndexOf('@');
  const [local, domain] = [email.slice(0, at), email.slice(at + 1)];
  if (email_domains.length > 0) {
    if (local.includes('+')) throw new Refusal('Email addresses containing + are not allowed.');
    if (!email_domains.includes(domain.toLowerCase())) throw new Refusal('Outside your domain.');
  }
  if (/^(mailinator|trashmail)\./i.test(domain)) throw new Refusal('Please use your real email address.');
  const taken = state.users.rows().find((row) => row.email.toLowerCase() === email.toLowerCase());
  if (taken) throw new Refusal(taken.active ? 'Already has an account.' : 'Account has been deactivated.');
}

/** Changes the name; does nothing where the organization forbids that. @throws Refusal (docs/apis.md, Settings) */
export function changeName(call: UserCall, wanted: string | undefined): void {
  const { user, organization } = call;
  if (wanted === undefined || wanted === user.full_name) return;
  if (organization.name_changes_disabled && user.role !== 'administrator') return;
  const name = strip(wanted);
  checkName(name, call);
  update(call, { full_name: name });
}

function checkName(name: string, { user, organization, state, level }: UserCall): void {
  const length = Array.from(name).length;
  if (length > 100) throw new Refusal('Name too long!');
  if (level < levels.shortNames && length < 2) throw new Refusal('Name too short!');
  if (length === 0) throw new Refusal('Name must not be empty!');
  if (/[*`\\>"@]|\p{Cc}/u.test(name)) throw new Refusal('Invalid characters in name!');
  if (/\|\d+$/.test(name)) throw new Refusal('Invalid format!');
  const taken = state.users
    .rows()
    .some((row) => row.user_id !== user.user_id && row.full_name.toLowerCase() === name.toLowerCase());
  if (organization.unique_names && taken) throw new Refusal('Unique names required in this organization.');
}

function update({ state, user }: UserCall, change: Partial<User>): void {
  state.users.put(user.user_id, { ...(state.users.get(user.user_id) ?? user), ...change });
}

const atom = "[-!#$%&'*+/=?^_`{}|~0-9A-Z]+";
const label = '[A-Z0-9](?:[A-Z0-9-]{0,61}[A-Z0-9])?';
const local = `"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"|${atom}(?:\\.${atom})*`;
/** An e-mail address to the server (docs/apis.md, Settings): the last of its labels has at least two characters. */
const address = new RegExp(`^(?:${local})@(?:localhost|(?:${label}\\.)+(?=..)${label})$`, 'i');

export function isAddress(email: string): boolean {
  return email.length <= 320 && address.test(email);
}
