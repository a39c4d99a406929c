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
import { parseEnv } from 'node:util'
import { fileVariable } from '@berth/server/config/env-file.ts'
import { secretSettings, settings, type SettingName } from '@berth/server/config/settings.ts'
import type { Answers } from './questions.ts'

/** Part of a settings file: an assignment with all its lines, or one other line. */
interface Part {
  readonly text: string
  /** Of an assignment. */
  readonly name?: string
  /** Of an assignment that is commented out: `#NAME=value`. */
  readonly commented?: string
}

const assignment = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=[ \t]*/
const commentedAssignment = /^#\s?([A-Z][A-Z0-9_]*)=/

/**
 * The text of a settings file, in which values are changed in their place. Every other line stays as it is: comments,
 * empty lines, unknown settings, their order and their quotes.
 */
export class EnvDocument {
  #parts: Part[]

  constructor(text: string) {
    this.#parts = partsOf(text)
  }

  /** Values by name, as Node reads them. */
  get values(): Readonly<Record<string, string | undefined>> {
    return parseEnv(this.text)
  }

  get text(): string {
    return this.#parts.map(({ text }) => text).join('')
  }

  /**
   * Sets a value: in its last assignment, else behind the line that has it commented out, else at the end.
   * @throws {Error} for a value that no quotes can hold
   */
  set(name: string, value: string): void {
    if (this.values[name] === value) return
    const part = { name, text: `${name}=${quoted(value)}\n` }
    const at = this.#parts.findLastIndex((each) => each.name === name)
    if (at >= 0) this.#parts[at] = part
    else this.#insert(part)
    if (this.values[name] !== value) throw new Error(`the value of ${name} cannot be written to a settings file`)
  }

  /** Comments all its assignments out; nothing if there is none. */
  unset(name: string): void {
    this.#parts = this.#parts.flatMap((each) =>
      each.name === name
        ? each.text.split(/(?<=\n)/).map((text): Part => ({ text: `#${text}`, commented: name }))
        : each,
    )
  }

  /** Gives an assignment another name and value in its place; sets it if there is none. */
  replace(name: string, by: string, value: string): void {
    const at = this.#parts.findLastIndex((each) => each.name === name)
    if (at < 0) return this.set(by, value)
    this.#parts[at] = { name: by, text: `${by}=${quoted(value)}\n` }
    this.unset(name)
  }

  #insert(part: Part): void {
    const at = this.#parts.findLastIndex(({ commented }) => commented === part.name)
    if (at >= 0) return void this.#parts.splice(at + 1, 0, part)
    const last = this.#parts.at(-1)
    if (last && !last.text.endsWith('\n')) this.#parts.push({ text: '\n' })
    this.#parts.push(part)
  }
}

function partsOf(text: string): Part[] {
  const lines = text.split(/(?<=\n)/).filter((line) => line !== '')
  const parts: Part[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const [head = '', name] = assignment.exec(line) ?? []
    if (name === undefined) {
      const commented = commentedAssignment.exec(line)?.[1]
      parts.push(commented === undefined ? { text: line } : { text: line, commented })
      continue
    }
    const more = linesOfValue(lines.slice(at), head.length)
    parts.push({ name, text: lines.slice(at, at + more).join('') })
    at += more - 1
  }
  return parts
}

/** How many lines a value takes: one in quotes ends at the next of the same. @param start of the value in the first line */
function linesOfValue(lines: readonly string[], start: number): number {
  const quote = lines[0]?.[start] ?? ''
  if (!['"', "'", '`'].includes(quote)) return 1
  if (lines[0]?.includes(quote, start + 1)) return 1
  const end = lines.findIndex((line, at) => at > 0 && line.includes(quote))
  // Without a second one the first is a part of the value.
  return end < 0 ? 1 : end + 1
}

function quoted(value: string): string {
  if (/^[\w@%+=:,./*~-]*$/.test(value)) return value
  // Only double quotes give `\n` a meaning.
  const quote = ["'", '`', '"'].find((each) => !value.includes(each) && !(each === '"' && value.includes('\\')))
  if (quote === undefined) throw new Error('a value cannot hold all three kinds of quotes')
  return quote + value + quote
}

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
    if (value !== '' || settings.get(name)?.isEmptyAValue) document.set(name, value)
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
