/** One setting as it is written in a file. */
export interface SettingEntry {
  /** File and line: `team.yaml:3`. */
  readonly place: string;
  /** As written, dashes included. */
  readonly name: string;
  /** Undefined for a name without a value. @throws Failure usage where the value is no single text, number or boolean */
  readonly text: () => string | undefined;
}
