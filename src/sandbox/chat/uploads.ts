import { createHash } from 'node:crypto';
import { uploadsIn } from '../../schema/upload.ts';
import { html, type SandboxAnswer } from '../answer.ts';
import { canRead } from './access.ts';
import type { CallOutcome, ChatCall, UserCall } from './chat-call.ts';

/** A file is there if a message names it; who can read one of these messages gets an address. */
export function uploadAddress(call: UserCall): CallOutcome {
  const { state, user, segment, clock, organization, request } = call;
  const linking = state.messages
    .rows()
    .filter(({ rendered }) => uploadsIn({ content: rendered }, request.origin).includes(segment));
  if (linking.length === 0) return html(404, '<p>File not found</p>');
  const oldest = organization.first_visible_message_id;
  if (!linking.some((message) => message.id >= oldest && canRead(user, message, state)))
    return html(403, '<p>You are not authorized to view this file.</p>');
  // A temporary address is good for a minute.
  const until = String(Math.floor(clock.now() / 1000) + 60);
  const token = [Buffer.from(segment).toString('base64url'), until, signatureOf(segment, until)].join(':');
  return { url: `/user_uploads/temporary/${token}/${encodeURIComponent(segment.split('/').at(-1) ?? '')}` };
}

/** GET /user_uploads/temporary/{token}/{name}, without credentials. */
export function uploadContent({ segment, clock }: ChatCall): SandboxAnswer {
  const [name = '', until = '', signature] = segment.split(':');
  const path = Buffer.from(name, 'base64url').toString('utf8');
  if (signature !== signatureOf(path, until) || Number(until) * 1000 < clock.now())
    return html(403, '<p>Sorry, this link is invalid or has expired.</p>');
  const body = `The sandbox made this up for ${path}.\n`.repeat(20);
  return { status: 200, headers: { 'content-type': 'application/octet-stream' }, body };
}

function signatureOf(path: string, until: string): string {
  return createHash('sha256').update(`${path} ${until} sandbox`).digest('base64url').slice(0, 20);
}
