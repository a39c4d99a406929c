import { parseEnv } from 'node:util'
import { readSecretFile } from '#/machine/secret-file.ts'
import { secretSettings, settings } from './settings.ts'

/** Settings file beside the environment, unless `BERTH_ENV_FILE` names another one. */
const defaultFile = 'berth.env'

type Settings = Readonly<Record<string, string | undefined>>

/** Settings from environment and file. */
export interface ReadSettings {
  /** Input of `readConfig`. */
  readonly env: Settings
  /** Problems that prevent the start, each a sentence. */
  readonly problems: readonly string[]
  /** Lines of the file, and settings, without an effect; each a sentence. */
  readonly notes: readonly string[]
}

/**
 * The settings of environment and `berth.env`, with the secrets of the files that `NAME_FILE` names. All of it is read
 * at every start of an API process, so also after SIGHUP.
 * @param readFile reads the settings file; throws when it cannot
 */
export function readSettings(environment: Settings, readFile: (path: string) => string): ReadSettings {
  const merged = mergeSettings(environment, readFile)
  const { env, problems } = withSecretsOfFiles(merged.env)
  return { env, problems: [...merged.problems, ...problems], notes: [...merged.notes, ...settingsWithoutEffect(env)] }
}

/**
 * Merges the settings of `berth.env` with those of the environment, which take precedence. A file that `BERTH_ENV_FILE`
 * names must exist, `berth.env` in the working directory may be missing. The file may change while Berth runs; the
 * environment cannot.
 */
function mergeSettings(environment: Settings, readFile: (path: string) => string): ReadSettings {
  const named = environment.BERTH_ENV_FILE?.trim() || undefined
  const file = named ?? defaultFile
  let text: string
  try {
    text = readFile(file)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const problems = isMissing && named === undefined ? [] : [`${file} cannot be read: ${(error as Error).message}`]
    return { env: environment, problems, notes: [] }
  }
  const inFile = parseEnv(text)
  const names = Object.keys(inFile)
  const files = new Set(secretSettings.map(fileVariable))
  const isOverruled = (name: string) => environment[name] !== undefined && environment[name] !== inFile[name]
  const notes = [
    ...names
      .filter((name) => !settings.has(name) && !files.has(name))
      .map((name) => `${file}: ${name} is no setting of Berth`),
    ...names.filter(isOverruled).map((name) => `${file}: ${name} has no effect, because the environment sets it, too`),
  ]
  return { env: { ...inFile, ...environment }, problems: [], notes }
}

/** The variable that names the file of a secret setting. */
export const fileVariable = (name: string) => `${name}_FILE`

/**
 * Replaces each `NAME_FILE` of a secret setting by `NAME` with the secret of that file. The files are read each time,
 * so a new secret takes effect as a new value of the setting does.
 * @returns the settings, and each problem as a sentence without a secret; a setting with a problem is not set
 */
export function withSecretsOfFiles(settings: Settings): { readonly env: Settings; readonly problems: string[] } {
  const env: Record<string, string | undefined> = { ...settings }
  const problems: string[] = []
  for (const name of secretSettings) {
    const variable = fileVariable(name)
    const file = env[variable]?.trim()
    delete env[variable]
    if (!file) continue
    if (env[name]?.trim()) {
      problems.push(`${name} and ${variable}: set one of them, not both`)
      continue
    }
    const read = readSecretFile(file)
    if ('value' in read) env[name] = read.value
    else problems.push(`${variable}: ${read.problem}`)
  }
  return { env, problems }
}

/**
 * A sentence for each setting that is there and counts only with another one, which is not set so. Without values: some
 * are secrets.
 */
function settingsWithoutEffect(env: Settings): string[] {
  const value = (name: string) => env[name]?.trim() ?? ''
  return [...settings].flatMap(([name, { countsWith }]) =>
    value(name) === '' || !countsWith || countsWith.are(...countsWith.settings.map(value))
      ? []
      : [`${name} has no effect: ${countsWith.otherwise}`],
  )
}
