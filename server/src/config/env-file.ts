import { parseEnv } from 'node:util'
import { readSecretFile } from '#/machine/secret-file.ts'
import { readConfig } from './config.ts'
import { secretSettings, type SettingName } from './setting-descriptions.ts'

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

/** A setting that counts together with another one alone. */
interface Dependent {
  readonly setting: SettingName
  /** Whether the other one is set so that it counts. */
  readonly counts: (value: (name: SettingName) => string) => boolean
  /** What is so otherwise, for the end of a sentence. */
  readonly otherwise: string
}

const onKubernetes = {
  counts: (value: (name: SettingName) => string) => value('ENGINE') === 'kubernetes',
  otherwise: 'ENGINE is not kubernetes',
}

/** Not KUBECONFIG, which shells set for other programs; nor MAIL_FROM, which the outbox uses, too. */
const dependents: readonly Dependent[] = [
  {
    setting: 'ACCESS_LOG_FILE',
    counts: (value) => !['', 'off'].includes(value('ACCESS_LOG')),
    otherwise: 'ACCESS_LOG is off, and no request is logged',
  },
  {
    setting: 'HSTS_MAX_AGE',
    counts: (value) => value('TLS_CERT_FILE') !== '',
    otherwise: 'without TLS_CERT_FILE the proxy in front sends Strict-Transport-Security, or none',
  },
  { setting: 'SMTP_TLS', counts: (value) => value('SMTP_URL') !== '', otherwise: 'SMTP_URL is not set' },
  { setting: 'SMTP_HELO_NAME', counts: (value) => value('SMTP_URL') !== '', otherwise: 'SMTP_URL is not set' },
  { setting: 'NODE_SECRET', counts: (value) => value('NODE_ADDRESS') !== '', otherwise: 'NODE_ADDRESS is not set' },
  { setting: 'SNAPSHOT_MAX_SIZE', counts: (value) => value('SNAPSHOTS') === 'on', otherwise: 'SNAPSHOTS is off' },
  {
    setting: 'SHARE_MAX_DURATION',
    counts: (value) => !['', 'off'].includes(value('SHARING')),
    otherwise: 'SHARING is off',
  },
  {
    setting: 'MEASURE_USAGE',
    counts: (value) => value('KEEP_USAGE_DAYS') !== '0' || value('KEEP_USAGE_MONTHS') !== '0',
    otherwise: 'KEEP_USAGE_DAYS and KEEP_USAGE_MONTHS are 0, and no use is recorded',
  },
  { setting: 'KUBERNETES_NAMESPACE', ...onKubernetes },
  { setting: 'KUBERNETES_STORAGE_CLASS', ...onKubernetes },
  { setting: 'KUBERNETES_HELPER_IMAGE', ...onKubernetes },
]

/**
 * A sentence for each setting that is there and counts only with another one, which is not set so. Without values: some
 * are secrets.
 */
function settingsWithoutEffect(env: Settings): string[] {
  const value = (name: SettingName) => env[name]?.trim() ?? ''
  return dependents
    .filter(({ setting, counts }) => value(setting) !== '' && !counts(value))
    .map(({ setting, otherwise }) => `${setting} has no effect: ${otherwise}`)
}
