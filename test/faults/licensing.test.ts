import { licenseCode } from '../../src/sandbox/sample/organization.ts';
import type { Sandbox } from '../helpers/sandbox.ts';
import {
  broke,
  carriedOut,
  elsewhere,
  harmless,
  late,
  licenseEdit,
  licensePost,
  repeatable,
  limits,
  large,
  lost,
  undone,
  unreadable,
  type Expected,
} from './expected.ts';
import { testFaults, type Row } from './matrix.ts';

const code = licenseCode(1);
const list = 'GET /v1/license/';
const roster = 'remote_user,size_allowance\nzed,4\nyan,5\nphysio-7731,9\nclinic-north/ward-3,6\n';
const sensors = 'mac_address,remote_user\nD422CD000301,clinic-north/ward-3\nD422CD000303,clinic-north/gait-lab\n';

const sizes = (state: Sandbox['state'], user: string): number[] =>
  state.licenses().flatMap(({ remote_user, size_allowance }) => (remote_user === user ? [size_allowance] : []));
const has = (user: string, size: number) => (state: Sandbox['state']) => sizes(state, user).join() === String(size);

const create = {
  line: 'license create --remote-user zed --size-allowance 4',
  isDone: has('zed', 4),
  allOrNothing: true,
};
const ensureNew = { ...create, line: 'license ensure --remote-user zed --size-allowance 4' };
const ensureOld = {
  line: 'license ensure --remote-user physio-7731 --size-allowance 9',
  isDone: has('physio-7731', 9),
};
const apply = {
  line: 'license apply - --input-format csv',
  stdin: roster,
  isDone: (state: Sandbox['state']) => has('zed', 4)(state) && has('yan', 5)(state) && has('physio-7731', 9)(state),
};

/**
 * A change after which there is nothing to settle, once for each row: what the contract says of an edit holds for each
 * of them.
 */
const editOfEachRow: Expected = {
  once: {
    0: `${limits} ${lost} ${harmless} empty`,
    8: `429-long ${large} ${broke} html json-garbage ${elsewhere} error-in-200`,
  },
  always: {
    0: `${harmless} empty`,
    8: `${limits} 429-long ${lost} ${large} ${broke} html json-garbage ${elsewhere} error-in-200`,
  },
};
const resizeOfEachRow: Expected = {
  once: {
    0: `${limits} ${lost} ${large} ${broke} ${harmless} empty json-garbage`,
    8: `429-long html ${elsewhere} error-in-200`,
  },
  always: {
    0: `${carriedOut} ${late} 500-after ${harmless} empty json-garbage`,
    8: `${limits} 429-long html ${elsewhere} error-in-200`,
    9: `${undone} ${large} 500`,
  },
};
const applyPost: Expected = {
  once: { 0: `${limits} ${lost} ${large} ${broke} ${harmless} ${unreadable} ${elsewhere} error-in-200`, 8: '429-long' },
  always: {
    0: `${carriedOut} ${late} 500-after ${harmless} empty json-garbage`,
    8: `${limits} 429-long`,
    9: `${undone} ${large} 500 html ${elsewhere} error-in-200`,
  },
};
/** An empty answer means that nobody activated the sensor (docs/apis.md, Licensing answers). */
const activation: Expected = {
  once: { ...repeatable.once, 5: 'empty', 7: `429-long ${large} ${broke} html json-garbage` },
  always: { ...repeatable.always, 5: 'empty', 7: `${limits} 429-long ${lost} ${large} ${broke} html json-garbage` },
};
/**
 * Every request of a command that looks before and after an unconfirmed request: the first that fails is the look
 * before.
 */
const createAlone: Expected = {
  once: licensePost.once,
  always: {
    0: harmless,
    7: `${limits} 429-long`,
    9: `${lost} ${large} ${broke} ${unreadable} ${elsewhere} error-in-200`,
  },
};

/**
 * `*` is a row of its own beside `POST *` and `PATCH *`; its first request is a GET, so that a row `GET *` would repeat
 * it.
 */
const cases: readonly Row[] = [
  { line: 'license list', target: list, expected: repeatable },
  { line: `license view ${code}`, target: 'GET /v1/license/*', expected: repeatable },
  { line: 'license view --remote-user physio-7731', target: list, expected: repeatable },
  { line: 'license audit', target: list, expected: repeatable },
  {
    line: `license edit ${code} --size-allowance 9`,
    target: 'PATCH *',
    isDone: has('clinic-north/ward-3', 9),
    expected: licenseEdit,
  },
  {
    line: `license edit ${code} --size-allowance 9 --remote-user zed --app-code 4711 --replace`,
    target: 'PUT *',
    isDone: has('zed', 9),
    expected: licenseEdit,
  },
  { ...create, target: 'POST *', expected: licensePost },
  { ...create, target: '*', expected: createAlone },
  { ...ensureNew, target: 'POST *', expected: licensePost },
  { ...ensureNew, target: '*', expected: repeatable },
  { ...ensureOld, target: 'GET *', expected: repeatable },
  { ...ensureOld, target: 'PATCH *', expected: licenseEdit },
  { ...apply, target: 'POST *', expected: applyPost },
  { ...apply, target: 'PATCH *', expected: resizeOfEachRow },
  { ...apply, target: '*', expected: repeatable },
  { line: `${apply.line} --dry-run`, stdin: roster, target: '*', expected: repeatable },
  { line: 'first-activation D422CD000301', target: 'GET *', expected: activation },
  { line: 'first-activation audit - --input-format csv', stdin: sensors, target: 'GET *', expected: editOfEachRow },
  { line: 'auth status', target: 'GET /v1/*', expected: repeatable },
  {
    line: 'auth login licensing --base-url {origin} --app-code 4711 --api-key-stdin',
    stdin: 'sandbox-key-of-app-4711\n',
    target: '*',
    expected: repeatable,
  },
];

testFaults(cases);
