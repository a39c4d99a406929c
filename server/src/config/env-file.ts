import { parseEnv } from 'node:util'
import { readConfig } from './config.ts'
import { fileVariable, withSecretsOfFiles } from './secret-settings.ts'
import { secretSettings } from './setting-descriptions.ts'
import { settingsWithoutEffect } from './settings-without-effect.ts'

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
  const isOverruled = (name: string) => environment[name] !== undefined && environment[name] !== inFile[name]
  const notes = [
    ...names.filter((name) => !settingNames().has(name)).map((name) => `${file}: ${name} is no setting of Berth`),
    ...names.filter(isOverruled).map((name) => `${file}: ${name} has no effect, because the environment sets it, too`),
  ]
  return { env: { ...inFile, ...environment }, problems: [], notes }
}

/** Every name that `readConfig` reads, so that there is no second list of them, and the files of secrets. */
function settingNames(): Set<string> {
  const names = new Set(secretSettings.map(fileVariable))
  const asked: Settings = new Proxy<Settings>({}, { get: (_, name) => void names.add(String(name)) })
  readConfig(asked, () => '')
  return names
}
