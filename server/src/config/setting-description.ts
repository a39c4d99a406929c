/** Description of one setting in docs/reference/settings.md. */
export interface SettingDescription {
  /** The default, as it is written in the environment, or in words where it depends on other settings. */
  readonly default: string
  /** True where `default` is words and not a value. */
  readonly isDefaultInWords?: true
  /** What it sets, its unit and its limits. Markdown without links. */
  readonly text: string
  /** Its value is a secret, or contains one: it can be given by a file, `NAME_FILE`. */
  readonly isSecret?: true
  /** Page that explains it, from the docs folder. */
  readonly see?: `${'how-to' | 'explanation'}/${string}.md`
}

/** Settings by subject, in the order of the page. */
export type SettingGroups = Readonly<Record<string, Readonly<Record<string, SettingDescription>>>>

/** A setting without a default. */
export const none = { default: 'none', isDefaultInWords: true } as const

/** A default that depends on other settings or on the machine. */
export const inWords = (words: string) => ({ default: words, isDefaultInWords: true }) as const
