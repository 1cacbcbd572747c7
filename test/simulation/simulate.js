// npm run simulate: see README.md beside this file.
import { parseArgs } from 'node:util';
import { bundle } from './bundle.js';
import { rules } from './rules.js';

const { values } = parseArgs({
  options: {
    world: { type: 'string' },
    seed: { type: 'string' },
    seeds: { type: 'string' },
    alone: { type: 'string' },
    minutes: { type: 'string', default: '600' },
    whole: { type: 'boolean', default: false },
    kills: { type: 'string', default: '2' },
    every: { type: 'string', default: '1' },
    plan: { type: 'string' },
    wrongs: { type: 'string', default: '3' },
    all: { type: 'boolean', default: false },
    without: { type: 'string' },
    proof: { type: 'boolean', default: false },
  },
});

const taken = rules.find(({ name }) => name === values.without);
if (values.without && !taken) throw new Error(`no rule is called ${values.without}: see test/simulation/rules.js`);
/** @type {typeof import('./play.ts')} */
const { search, seeded, shrink, worlds } = await import(
  await bundle(taken ? `without-${rules.indexOf(taken)}` : 'simulate', taken ? [taken] : [])
);
const end = { mostFailing: values.proof ? 1 : Number(values.wrongs), mostCpuSeconds: Number(values.minutes) * 60 };

if (values.proof) await proveRules();
else if (values.plan) await tell(values.world ?? 'ensure', JSON.parse(values.plan));
else if (values.seed && !values.seeds)
  await tell(values.world ?? 'ensure', worldOf(values.world ?? 'ensure').draw(Number(values.seed)));
else for (const name of values.world ? [values.world] : Object.keys(worlds)) await searchIn(name);

/** @param {string} name */
function worldOf(name) {
  const world = worlds[name];
  if (!world) throw new Error(`the worlds are ${Object.keys(worlds).join(', ')}`);
  return world;
}

/** @param {string} name */
async function searchIn(name) {
  const world = worldOf(name);
  const first = Number(values.seed ?? 1);
  const count = Number(values.seeds ?? 1000);
  const plans = values.whole
    ? world.whole(values.kills !== '1', Number(values.every))
    : seeded(world, values.alone ? 16 * first + Number(values.alone) : first, count, values.alone ? 16 : 1);
  const { histories, cpuSeconds, failing, limits, most } = await search(world, plans, end);
  const rate = (histories / cpuSeconds).toFixed(1);
  console.log(
    `${name}: ${histories} histories, ${failing.length} wrong, ${cpuSeconds.toFixed(1)} s of CPU, ${rate} a second`,
  );
  for (const [limit, count] of limits) console.log(`  documented limit: ${limit}: ${count} histories`);
  console.log(`  most calls of a run: ${most}`);
  for (const { plan, wrongs } of failing) {
    process.exitCode = 1;
    const smallest = await shrink(world, plan);
    console.log(`WRONG: ${wrongs.join('; ')}`);
    console.log(`  npm run simulate -- --world ${name} --plan '${JSON.stringify(smallest)}'`);
  }
}

/**
 * The story of one history.
 * @param {string} name
 * @param {unknown} plan
 */
async function tell(name, plan) {
  const { wrongs, limits } = await worldOf(name).play(plan, (line) => {
    // Calls of the disk are of interest to few.
    if (values.all || !/ {2}\d+: (?!GET|POST|PATCH|DELETE|SQL)| {4}(?!GET|POST|PATCH|DELETE|SQL)\w+ \//.test(line))
      console.log(line);
  });
  console.log(JSON.stringify({ wrongs, limits }, undefined, 2));
  if (wrongs.length > 0) process.exitCode = 1;
}

/** Takes out each rule, and measures how long it takes until a history does wrong. */
async function proveRules() {
  const proven = rules.filter(
    ({ name, world }) =>
      name === (values.without ?? name) && world.split(' ')[0] === (values.world ?? world.split(' ')[0]),
  );
  for (const rule of proven) {
    /** @type {typeof import('./play.ts')} */
    const { hunt } = await import(await bundle(`proof-${rules.indexOf(rule)}`, [rule]));
    const [world = '', alone] = rule.world.split(' ');
    const { failing, histories, cpuSeconds } = await hunt(world, 60, alone === undefined ? undefined : Number(alone));
    const [first] = failing;
    if (!first) process.exitCode = 1;
    const found = first
      ? `${cpuSeconds.toFixed(1).padStart(5)} s ${String(histories).padStart(5)} histories`
      : 'not found';
    console.log(`${found}  ${rule.world}: ${rule.name}${first ? `: ${first.wrongs[0]?.slice(0, 100)}` : ''}`);
  }
}
