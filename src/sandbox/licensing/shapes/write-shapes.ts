import { empty, html, json, type SandboxAnswer } from '../../answer.ts';
import type { LicenseRecord } from '../../records.ts';
import { errorBody, bodyOf, type BodyShape } from './license-body.ts';

interface Write {
  /** 201 after a POST, else 200. */
  readonly status: 200 | 201;
  /** Undefined after a POST. */
  readonly before: LicenseRecord | undefined;
  readonly after: LicenseRecord;
  /** Looks for a license of another user. */
  readonly other: () => LicenseRecord | undefined;
  /** The name of the user as the request has it. */
  readonly sent: string;
  readonly shape: BodyShape;
  readonly origin: string;
}

interface WriteShape {
  readonly means: string;
  readonly answer: (write: Write) => SandboxAnswer;
}

/** Every answer to a write that can be asked for; `sandbox serve --help` and the manual show them. */
export const writeShapes = {
  license: { means: 'the license', answer: whole },
  wrapped: {
    means: 'an object with the license under license',
    answer: ({ status, after, shape }) => json(status, { license: bodyOf(after, shape) }),
  },
  array: {
    means: 'an array with the license',
    answer: ({ status, after, shape }) => json(status, [bodyOf(after, shape)]),
  },
  echo: {
    means: 'the license with the name that was sent, whatever name is kept',
    answer: (write) => whole({ ...write, after: { ...write.after, remote_user: write.sent } }),
  },
  text: {
    means: 'status 202 and a text',
    answer: () => ({ ...html(202, 'Accepted'), headers: { 'content-type': 'text/plain' } }),
  },
  key: { means: 'the bare key as a JSON string', answer: ({ status, after }) => json(status, after.license_code) },
  empty: { means: 'the status without a body', answer: ({ status }) => empty(status) },
  'no-content': { means: '204', answer: () => empty(204) },
  old: {
    means: 'a change is answered with the license as it was before',
    answer: (write) => whole({ ...write, after: write.before ?? write.after }),
  },
  unchanged: { means: 'a change is not made, and answered with status 200 and the unchanged license', answer: whole },
  'other-user': {
    means: 'the write is carried out; the answer is a license of another user',
    answer: (write) => whole({ ...write, after: write.other() ?? { ...write.after, remote_user: 'somebody-else' } }),
  },
  'other-key': {
    means: 'the license, with the key of another user in place of its own',
    answer: (write) =>
      whole({
        ...write,
        after: { ...write.after, license_code: write.other()?.license_code ?? 'KEY-OF-SOMEBODY-ELSE' },
      }),
  },
  error: {
    means: 'the write is carried out; the answer is an error with status 200, in the form of --error-shape',
    answer: ({ shape }) => json(200, errorBody('Something went wrong.', shape.error_shape)),
  },
  redirect: {
    means: 'a POST is carried out and answered with 302 to the list',
    answer: (write) => (write.before ? whole(write) : empty(302, { location: `${write.origin}/v1/license/` })),
  },
} as const satisfies Readonly<Record<string, WriteShape>>;

function whole({ status, after, shape }: Write): SandboxAnswer {
  return json(status, bodyOf(after, shape));
}
