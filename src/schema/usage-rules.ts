import { usage } from '../core/failure.ts';
import { flagOf, type Fields } from './field.ts';

/** A rule across the arguments and options of a command, those of every command included. */
export type UsageRule =
  | { readonly option: string; readonly needs: readonly string[] }
  /** `say`: in place of the usual sentence. */
  | {
      readonly option: string;
      readonly excludes: readonly string[];
      readonly say?: (other: string) => string;
      readonly hint?: string;
    }
  | { readonly oneOf: readonly string[]; readonly say: string; readonly hint?: string };

/** Checks rules. A switch that is off is not given, unless it has `--no-…`. @throws Failure usage for a broken rule */
export function checkRules(rules: readonly UsageRule[], fields: Fields, values: Readonly<Record<string, unknown>>) {
  const isOff = (name: string): boolean => {
    const field = fields[name];
    return values[name] === false && !(field?.kind === 'boolean' && field.negatable);
  };
  const isGiven = (name: string): boolean => values[name] !== undefined && !isOff(name);
  const flag = (name: string): string => `--${flagOf(name, fields[name] ?? { kind: 'boolean', help: '' })}`;
  for (const rule of rules) {
    if ('oneOf' in rule) {
      if (rule.oneOf.filter(isGiven).length !== 1) throw usage(rule.say, rule.hint);
    } else if (isGiven(rule.option) && 'needs' in rule) {
      const [last = '', ...before] = rule.needs.map(flag).reverse();
      const needed = before.length === 0 ? last : `${before.reverse().join(', ')} and ${last}`;
      if (!rule.needs.every(isGiven)) throw usage(`${flag(rule.option)} needs ${needed}`);
    } else if (isGiven(rule.option) && 'excludes' in rule) {
      const other = rule.excludes.find(isGiven);
      const { say = (name) => `${flag(rule.option)} and ${name} exclude each other` } = rule;
      if (other !== undefined) throw usage(say(flag(other)), rule.hint);
    }
  }
}
