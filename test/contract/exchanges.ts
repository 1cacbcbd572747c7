import { expect } from 'vitest';

/** One request and its answer, typed from the specification: the client sends it, and the sandbox answers it. */
export interface Exchange {
  readonly method: string;
  /** With the query as it is sent. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it is sent. */
  readonly body?: string;
  readonly answer: {
    readonly status: number;
    /** What a client may count on; a sandbox may say more. */
    readonly body: unknown;
  };
}

/** A command line, what it sends one after another, and what it prints as JSON. */
export interface Contract {
  readonly call: string;
  readonly line: string;
  readonly exchanges: readonly Exchange[];
  readonly prints: unknown;
}

const token = { authorization: 'Token sandbox-key-of-app-4711' };
const json = { 'content-type': 'application/json' };
/** mara@harbour.example and her key. */
const basic = {
  authorization: 'Basic bWFyYUBoYXJib3VyLmV4YW1wbGU6U2FuZGJveEtleU9mTWFyYTAwMDAwMDAwMDAwMDAwMDA=',
};
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const license = {
  license_code: 'CD3AE-2B80E-1662B-2FCA2',
  remote_user: 'physio-7731',
  app_code: 4711,
  size_allowance: 4,
};
const code = '/v1/license/CD3AE-2B80E-1662B-2FCA2/';
const done = { result: 'success', msg: '' };

const serverSettings: Exchange = {
  method: 'GET',
  path: '/api/v1/server_settings',
  headers: {},
  answer: { status: 200, body: { ...done, zulip_feature_level: 489 } },
};

/** The end of the topic `onboarding`. */
const lastOfTopic = (body: object): Exchange => ({
  method: 'GET',
  path:
    '/api/v1/messages?narrow=%5B%7B%22operator%22%3A%22channel%22,%22operand%22%3A1%7D,%7B%22operator%22%3A%22topic%22,' +
    '%22operand%22%3A%22onboarding%22%7D%5D&apply_markdown=false&num_before=5000&num_after=0&anchor=newest',
  headers: basic,
  answer: { status: 200, body: { ...done, ...body } },
});

/** @param narrow of the query, with the sign that ends it */
const messageById = (narrow: string): Exchange => ({
  method: 'GET',
  path: `/api/v1/messages?${narrow}apply_markdown=false&message_ids=%5B1001%5D`,
  headers: basic,
  answer: { status: 200, body: { ...done, messages: expect.arrayContaining([]) as unknown[] } },
});

/** Some message id. */
const someId = expect.any(Number) as number;

const oldest = {
  id: someId,
  type: 'stream',
  subject: 'onboarding',
  sender_id: 8,
  sender_full_name: 'Mara Lindqvist',
  display_recipient: 'general',
  stream_id: 1,
  timestamp: 1_768_204_920,
};

/** Each call of the specification, and the one that tells the level. */
export const contracts: readonly Contract[] = [
  {
    call: 'POST /license/',
    line: 'license create --remote-user ada --size-allowance 4',
    exchanges: [
      // What the user has already, in each spelling in which servers store a name.
      ...['ada', 'ADA', 'Ada'].map((name) => ({
        method: 'GET' as const,
        path: `/v1/license/?remote_user=${name}&app_code=4711`,
        headers: token,
        answer: { status: 200, body: [] },
      })),
      {
        method: 'POST',
        path: '/v1/license/',
        headers: { ...token, ...json },
        body: '{"remote_user":"ada","app_code":4711,"size_allowance":4}',
        answer: {
          status: 201,
          body: {
            license_code: expect.stringMatching(/^\S+$/) as string,
            remote_user: 'ada',
            app_code: 4711,
            size_allowance: 4,
          },
        },
      },
      // The look that confirms it.
      {
        method: 'GET',
        path: '/v1/license/?remote_user=ada&app_code=4711',
        headers: token,
        answer: {
          status: 200,
          body: [
            {
              license_code: expect.stringMatching(/^\S+$/) as string,
              remote_user: 'ada',
              app_code: 4711,
              size_allowance: 4,
            },
          ],
        },
      },
    ],
    prints: { license_code: expect.any(String) as string, remote_user: 'ada', app_code: 4711, size_allowance: 4 },
  },
  {
    call: 'GET /license/ with both filters',
    line: 'license list --remote-user physio-7731 --app-code 4711',
    exchanges: [
      {
        method: 'GET',
        path: '/v1/license/?remote_user=physio-7731&app_code=4711',
        headers: token,
        answer: { status: 200, body: [license] },
      },
    ],
    prints: [license],
  },
  {
    call: 'GET /license/ without filters',
    line: 'license list --limit 1',
    exchanges: [
      {
        method: 'GET',
        path: '/v1/license/',
        headers: token,
        answer: {
          status: 200,
          body: expect.arrayContaining([expect.objectContaining(license)]) as unknown[],
        },
      },
    ],
    prints: [expect.objectContaining({ app_code: 4711 })],
  },
  {
    call: 'GET /license/<license_code>/',
    line: 'license view CD3AE-2B80E-1662B-2FCA2',
    exchanges: [{ method: 'GET', path: code, headers: token, answer: { status: 200, body: license } }],
    prints: license,
  },
  {
    call: 'PUT /license/<license_code>/',
    line: 'license edit CD3AE-2B80E-1662B-2FCA2 --allow-duplicate --replace --remote-user physio-8000 --app-code 4711 --size-allowance 18',
    exchanges: [
      // Before the lock of its user, and after it.
      { method: 'GET', path: code, headers: token, answer: { status: 200, body: license } },
      { method: 'GET', path: code, headers: token, answer: { status: 200, body: license } },
      {
        method: 'PUT',
        path: code,
        headers: { ...token, ...json },
        body: '{"remote_user":"physio-8000","app_code":4711,"size_allowance":18}',
        answer: { status: 200, body: { ...license, remote_user: 'physio-8000', size_allowance: 18 } },
      },
    ],
    prints: {
      ...license,
      remote_user: 'physio-8000',
      size_allowance: 18,
      remote_user_before: license.remote_user,
      size_allowance_before: license.size_allowance,
      status: 'changed',
    },
  },
  {
    call: 'PATCH /license/<license_code>/',
    line: 'license edit CD3AE-2B80E-1662B-2FCA2 --size-allowance 6',
    exchanges: [
      // Before the lock of its user, and after it.
      { method: 'GET', path: code, headers: token, answer: { status: 200, body: license } },
      { method: 'GET', path: code, headers: token, answer: { status: 200, body: license } },
      {
        method: 'PATCH',
        path: code,
        headers: { ...token, ...json },
        body: '{"size_allowance":6}',
        answer: { status: 200, body: { ...license, size_allowance: 6 } },
      },
    ],
    prints: { ...license, size_allowance: 6, size_allowance_before: license.size_allowance, status: 'changed' },
  },
  {
    call: 'GET /first-activation/',
    line: 'first-activation d4-22-cd-00-03-02',
    exchanges: [
      {
        method: 'GET',
        path: '/v1/first-activation/?mac_address=D4%3A22%3ACD%3A00%3A03%3A02&app_code=4711',
        headers: token,
        answer: { status: 200, body: license },
      },
    ],
    prints: [{ mac_address: 'D4:22:CD:00:03:02', ...license, status: 'activated' }],
  },
  {
    call: 'PATCH /settings',
    line: 'settings set twenty_four_hour_time=true timezone=Europe/Lisbon color_scheme=dark',
    exchanges: [
      serverSettings,
      {
        method: 'PATCH',
        path: '/api/v1/settings',
        headers: { ...basic, ...form },
        body: 'twenty_four_hour_time=true&timezone=Europe%2FLisbon&color_scheme=2',
        answer: { status: 200, body: done },
      },
    ],
    prints: [
      { name: 'twenty_four_hour_time', value: true, status: 'set' },
      { name: 'timezone', value: 'Europe/Lisbon', status: 'set' },
      { name: 'color_scheme', value: 2, value_name: 'dark', status: 'set' },
    ],
  },
  {
    call: 'GET /messages',
    line: 'messages fetch --channel general --topic onboarding --anchor oldest --num-after 1 --no-client-gravatar --raw-content',
    exchanges: [
      {
        method: 'GET',
        path:
          '/api/v1/messages?narrow=%5B%7B%22operator%22%3A%22channel%22,%22operand%22%3A%22general%22%7D,%7B%22operator%22%3A%22topic%22,' +
          '%22operand%22%3A%22onboarding%22%7D%5D&client_gravatar=false&apply_markdown=false&anchor=oldest&num_before=0&num_after=1',
        headers: basic,
        answer: {
          status: 200,
          body: {
            ...done,
            anchor: 0,
            found_oldest: true,
            found_newest: false,
            found_anchor: false,
            history_limited: false,
            messages: [expect.objectContaining({ ...oldest, content_type: 'text/x-markdown' })],
          },
        },
      },
    ],
    prints: [expect.objectContaining(oldest)],
  },
  {
    call: 'POST /streams/{stream_id}/delete_topic',
    line: 'topic delete id:1 onboarding --confirm onboarding --no-archive',
    exchanges: [
      {
        method: 'GET',
        path: '/api/v1/users/me',
        headers: basic,
        answer: { status: 200, body: expect.objectContaining({ result: 'success', is_admin: true }) as object },
      },
      {
        method: 'GET',
        path: '/api/v1/messages?narrow=%5B%7B%22operator%22%3A%22channel%22,%22operand%22%3A1%7D%5D&anchor=newest&num_before=1&num_after=0',
        headers: basic,
        answer: {
          status: 200,
          body: {
            ...done,
            messages: [expect.objectContaining({ id: someId, stream_id: 1, display_recipient: 'general' })],
          },
        },
      },
      {
        method: 'GET',
        path: '/api/v1/streams?exclude_archived=false',
        headers: basic,
        answer: { status: 200, body: expect.objectContaining({ result: 'success' }) as object },
      },
      {
        method: 'GET',
        path:
          '/api/v1/messages?narrow=%5B%7B%22operator%22%3A%22channel%22,%22operand%22%3A1%7D,%7B%22operator%22%3A%22topic%22,' +
          '%22operand%22%3A%22onboarding%22%7D%5D&num_before=0&num_after=5000&anchor=oldest',
        headers: basic,
        answer: {
          status: 200,
          body: {
            ...done,
            anchor: 0,
            found_newest: true,
            messages: expect.arrayContaining([expect.objectContaining(oldest)]) as unknown[],
          },
        },
      },
      serverSettings,
      lastOfTopic({
        found_oldest: true,
        messages: expect.arrayContaining([expect.objectContaining(oldest)]) as unknown[],
      }),
      {
        method: 'POST',
        path: '/api/v1/streams/1/delete_topic',
        headers: { ...basic, ...form },
        body: 'topic_name=onboarding',
        answer: { status: 200, body: { ...done, complete: true } },
      },
      lastOfTopic({ found_oldest: true, messages: [] }),
      messageById('narrow=%5B%7B%22operator%22%3A%22channel%22,%22operand%22%3A1%7D%5D&'),
      messageById('narrow=%5B%7B%22operator%22%3A%22channels%22,%22operand%22%3A%22public%22%7D%5D&'),
      messageById(''),
      lastOfTopic({ found_oldest: true, messages: [] }),
      {
        method: 'GET',
        path: '/api/v1/streams',
        headers: basic,
        answer: { status: 200, body: { ...done, streams: expect.arrayContaining([]) as unknown[] } },
      },
    ],
    prints: [expect.objectContaining({ stream_id: 1, topic_name: 'onboarding', status: 'deleted' })],
  },
  {
    call: 'PATCH /navigation_views/{fragment}',
    line: "view rename narrow/is/alerted 'Watch & words' --pin",
    exchanges: [
      {
        method: 'PATCH',
        path: '/api/v1/navigation_views/narrow/is/alerted',
        headers: { ...basic, ...form },
        body: 'is_pinned=true&name=Watch+%26+words',
        answer: { status: 200, body: done },
      },
    ],
    prints: [{ fragment: 'narrow/is/alerted', name: 'Watch & words', is_pinned: true, status: 'renamed' }],
  },
  {
    call: 'DELETE /saved_snippets/{saved_snippet_id}',
    line: 'snippet rm 2',
    exchanges: [
      {
        method: 'DELETE',
        path: '/api/v1/saved_snippets/2',
        headers: basic,
        answer: { status: 200, body: done },
      },
    ],
    prints: [{ saved_snippet_id: 2, status: 'deleted' }],
  },
];
