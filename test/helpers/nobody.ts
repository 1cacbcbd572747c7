import type { FakeService } from './service.ts';

/** A lookup of ada, in each spelling in which servers store a name, that shows nobody. */
export function expectNobody(service: FakeService, times = 1): void {
  for (let at = 0; at < times; at += 1)
    for (const name of ['ada', 'ADA', 'Ada'])
      service.expect(`GET /v1/license/?remote_user=${name}&app_code=7`).reply(200, []);
}
