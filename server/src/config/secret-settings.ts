import { readSecretFile } from '#/machine/secret-file.ts'
import { secretSettings } from './setting-descriptions.ts'

type Settings = Readonly<Record<string, string | undefined>>

/** The variable that names the file of a secret setting. */
export const fileVariable = (name: string) => `${name}_FILE`

/**
 * Replaces each `NAME_FILE` of a secret setting by `NAME` with the secret of that file. The files are read each time, so
 * a new secret takes effect as a new value of the setting does.
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
