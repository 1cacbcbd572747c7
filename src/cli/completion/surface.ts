/** What `commands -o json` says, as far as completion reads it. The build keeps it in dist/commands.json. */
export interface Surface {
  readonly groups: readonly NamedText[];
  readonly commands: readonly SurfaceCommand[];
  readonly options: readonly SurfaceOption[];
}

interface NamedText {
  readonly name: string;
  readonly summary: string;
}

export interface SurfaceCommand extends NamedText {
  readonly arguments: readonly SurfaceField[];
  readonly options: readonly SurfaceOption[];
  readonly formats: readonly string[];
  readonly fields: readonly string[];
}

export interface SurfaceField {
  readonly name: string;
  readonly kind: string;
  readonly help: string;
  readonly many?: boolean;
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  readonly names?: Readonly<Record<string, number>>;
  readonly suggest?: string | readonly string[];
}

export interface SurfaceOption extends SurfaceField {
  /** With its dashes. */
  readonly option: string;
  readonly short?: string;
  readonly negatable?: boolean;
}

/** A word that completion offers, and what it means; the text is empty where nothing is to be said. */
export interface Offer {
  readonly word: string;
  readonly text: string;
}
