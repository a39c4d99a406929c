import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { fileVariable } from '@berth/server/config/secret-settings.ts'
import { secretSettings, type SettingName } from '@berth/server/config/setting-descriptions.ts'
import type { EnvDocument } from './env-document.ts'
import type { Answers } from './questions.ts'

/** What `none` means for a setting whose empty value differs from no value. */
const emptyIsAValue: ReadonlySet<string> = new Set<SettingName>(['SPAWNER_SUBDOMAIN'])

/** A secret, and the file that it goes to. */
export interface SecretFile {
  readonly file: string
  readonly secret: string
}

/**
 * Changes the values of a settings file to the answers. Secrets are replaced by the names of their files.
 * @param present values of the file, secrets of files included; what is the same is left as it is
 * @param folder of the settings file, for the files of secrets
 * @returns the files of secrets, which are not written yet
 */
export function applyAnswers(document: EnvDocument, answers: Answers, present: Answers, folder: string): SecretFile[] {
  const changed = Object.entries(answers).filter(([name, value]) => value !== present[name as SettingName])
  return changed.flatMap(([name, value = '']) => {
    if (secretSettings.includes(name)) return applySecret(document, name, value, folder)
    const { [name]: present } = document.values
    if (value !== '' || emptyIsAValue.has(name)) document.set(name, value)
    else if (present !== undefined && present !== '') document.unset(name)
    return []
  })
}

function applySecret(document: EnvDocument, name: string, value: string, folder: string): SecretFile[] {
  const variable = fileVariable(name)
  if (value === '') {
    document.unset(name)
    document.unset(variable)
    return []
  }
  const file = document.values[variable] || path.join(folder, name.toLowerCase().replaceAll('_', '-'))
  document.replace(name, variable, file)
  return [{ file, secret: value }]
}

/**
 * Writes a file so that it is never incomplete: owner and mode stay, a symbolic link stays one. Accounts beside owner and
 * group are kept out, whatever it was.
 * @param model a new file gets owner and mode of this one, so that the service reads both; without it mode 0600 and, written
 *   by root, the owner of its folder
 */
export function writePrivately(file: string, text: string, model = file): void {
  const place = existsSync(file) ? realpathSync(file) : file
  const folder = path.dirname(place)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const like = [place, model].find((each) => existsSync(each))
  const { uid, gid, mode } = statSync(like ?? folder)
  const temporary = `${place}.${process.pid}.new`
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx', flush: true })
    if (process.getuid?.() === 0) chownSync(temporary, uid, gid)
    if (like !== undefined) chmodSync(temporary, mode & 0o770)
    renameSync(temporary, place)
  } finally {
    rmSync(temporary, { force: true })
  }
}
