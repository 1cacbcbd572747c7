import { describe, expect, test } from 'vitest';
import { keepLicenses, ownedBy, type Listed } from '../../../src/jobs/license/kept-licenses.ts';

const listed: readonly Listed[] = [
  { app_code: 7, license: { key: 'K-1', fields: { license_code: 'K-1', remote_user: 'ada', size_allowance: 4 } } },
  { app_code: 7, license: { key: 'K-2', fields: { remote_user: 'ada', license_code: 'K-2', app_code: 8 } } },
  { app_code: undefined, license: { key: 'outside', fields: { remote_user: 'grace', size_allowance: null } } },
  { app_code: 7, license: { key: '12', fields: { license_code: 12, remote_user: 34 } } },
  { app_code: 7, license: { key: undefined, fields: { remote_user: 'x\n"ü"', id: 12345678901234567890n } } },
  { app_code: 7, license: { key: 'K-1', fields: { license_code: 'K-1', remote_user: 'joan', more: { a: ['b'] } } } },
  { app_code: 7, license: { key: 'long', fields: { license_code: 'long', remote_user: 'y'.repeat(2_000_000) } } },
  { app_code: 7, license: { key: 'last', fields: { license_code: 'last', remote_user: 'ada' } } },
];

describe('a list that is kept as texts', () => {
  test('gives back each license', () => {
    const kept = keepLicenses();
    const indexes = listed.map(kept.add);

    expect(indexes).toEqual([...listed.keys()]);
    expect([...kept.all()]).toEqual(listed.map(ownedBy));
  });

  test('groups those that share a text, each user by itself', () => {
    const kept = keepLicenses();
    const byKey = kept.groupedBy(({ license }) => license.key ?? 'none');
    const byName = kept.groupedBy(({ name }) => name);
    for (const one of listed) {
      const index = kept.add(one);
      for (const groups of [byKey, byName]) groups.add(index, ownedBy(one));
    }
    const keys = (own: readonly Listed[]) => own.map(({ license }) => license.key);

    expect([...byKey.several()].map((group) => group.map((own) => own.map(({ name }) => name)))).toEqual([
      [['ada'], ['joan']],
    ]);
    expect([...byName.several()].map((group) => group.map(keys))).toEqual([[['K-1', 'last'], ['K-2']]]);
    expect(keys(byName.of('ada', '7 ada'))).toEqual(['K-1', 'last']);
    expect(keys(byName.of('grace', '0 grace'))).toEqual(['outside']);
    expect(keys(byName.of('ada', '9 ada'))).toEqual([]);
    expect(keys(byName.of('nobody', '7 nobody'))).toEqual([]);
  });

  test('two of one user', () => {
    const kept = keepLicenses();
    const byUser = kept.groupedBy(({ user }) => user);
    for (const one of listed.filter(({ license: { fields } }) => fields['remote_user'] === 'ada'))
      byUser.add(kept.add(one), ownedBy(one));

    expect([...byUser.several()].map((group) => group.map((own) => own.map(({ license }) => license.key)))).toEqual([
      [['K-1', 'last']],
    ]);
  });

  test('many of one text', () => {
    const kept = keepLicenses();
    const all = kept.groupedBy(() => '****');
    for (let index = 0; index < 20_000; index += 1) {
      const one = { app_code: 7, license: { key: '****', fields: { remote_user: `user-${index}` } } };
      expect(all.of('****', `7 user-${index}`)).toEqual([]);
      all.add(kept.add(one), ownedBy(one));
    }

    expect([...all.several()].map((group) => group.length)).toEqual([20_000]);
  });
});
