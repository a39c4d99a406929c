import { fileVariable } from '@berth/server/config/secret-settings.ts'
import { secretSettings, settingGroups } from '@berth/server/config/setting-descriptions.ts'
import { WrongUsage } from '#/command-failure.ts'
import type { EnvDocument } from './env-document.ts'
import { none, questions, type Answers } from './questions.ts'

/** Answers of the flags of questions. @param options by commander's names */
export function flagsIn(options: Readonly<Record<string, unknown>>): Answers {
  const given = questions.flatMap(({ flag, setting }) => {
    const name = /^--(\S+)/.exec(flag)?.[1]?.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()) ?? ''
    const value = options[name]
    return typeof value === 'string' ? [[setting, value.trim()] as const] : []
  })
  return Object.fromEntries(given)
}

/**
 * Answers of `--set`. A file of a secret is put into the document at once, so that its content is what the file says.
 * @throws {WrongUsage} for a setting that does not exist
 */
export function setsIn(sets: readonly string[], document: EnvDocument): Answers {
  const known = new Set<string>(Object.values(settingGroups).flatMap((group) => Object.keys(group)))
  const files = new Map(secretSettings.map((name) => [fileVariable(name), name]))
  const answers: Record<string, string> = {}
  for (const assignment of sets) {
    const [, name = '', value = ''] = /^([A-Z][A-Z0-9_]*)=(.*)$/s.exec(assignment) ?? []
    const secret = files.get(name)
    if (secret !== undefined) document.replace(secret, name, value)
    else if (known.has(name)) answers[name] = value === '' ? none : value
    else
      throw new WrongUsage(
        `--set ${assignment}: there is no setting ${name || 'in this'}; see docs/reference/settings.md`,
      )
  }
  return answers
}
