import type { FakeService } from './service.ts';

/** Lookups of a user, in each spelling in which servers store a name, that show nobody. */
export function expectNobody(service: FakeService, times = 1, user = 'ada', app_code = 7): void {
  const lower = user.toLowerCase();
  const names = new Set([user, lower, user.toUpperCase(), lower.charAt(0).toUpperCase() + lower.slice(1)]);
  for (let at = 0; at < times; at += 1)
    for (const remote_user of names) {
      const query = { remote_user, app_code: String(app_code) };
      service.expect({ method: 'GET', path: '/v1/license/', query }).reply(200, []);
    }
}
