import { createHash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { needRestart } from './settings.ts'

type Settings = Readonly<Record<string, string | undefined>>

/** Settings that an API process saves in the run folder for the next one. */
interface InEffect {
  /** Settings that need a restart, as the first API process of this run had them. */
  readonly kept: Readonly<Record<string, string>>
  /** SHA-256 of every other value by its name: values may be secrets, and only changes matter. */
  readonly hashes: Readonly<Record<string, string>>
}

/** Differences between new settings and those in effect, by name. */
export interface Changes {
  /** The settings to run with: the new ones, except those that need a restart. */
  readonly env: Settings
  readonly taken: readonly string[]
  readonly needRestart: readonly string[]
}

/**
 * Compares settings with those that an earlier API process of the same run saved.
 * @param folder the run folder @param contents of files that settings name, by words for the log; their changes count,
 * too
 * @returns no change when there was none before
 */
export function changesSince(folder: string, env: Settings, contents: Settings = {}): Changes {
  const before = readInEffect(folder)
  if (!before) return { env, taken: [], needRestart: [] }
  // What was hashed could change without a restart, by the version that saved it: it was not kept, and is taken.
  const keptNames = needRestart.filter((name) => before.hashes[name] === undefined)
  const kept = Object.fromEntries(keptNames.map((name) => [name, before.kept[name]]))
  const hashes = hashesOf({ ...env, ...contents }, keptNames)
  const names = new Set([...Object.keys(hashes), ...Object.keys(before.hashes)])
  return {
    env: { ...env, ...kept },
    taken: [...names].filter((name) => hashes[name] !== before.hashes[name]).sort(),
    needRestart: keptNames.filter((name) => (env[name] ?? '') !== (kept[name] ?? '')),
  }
}

/** Saves the settings that are in effect now. @throws when the run folder cannot be written */
export function saveInEffect(folder: string, env: Settings, contents: Settings = {}): void {
  const kept = Object.fromEntries(needRestart.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
  // Written to a new file and renamed, so that it is never incomplete.
  writeFileSync(`${fileIn(folder)}.new`, JSON.stringify({ kept, hashes: hashesOf({ ...env, ...contents }) }), {
    mode: 0o600,
  })
  renameSync(`${fileIn(folder)}.new`, fileIn(folder))
}

const fileIn = (folder: string) => path.join(folder, 'settings.json')

function readInEffect(folder: string): InEffect | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(folder), 'utf8')) as InEffect
  } catch {
    // The first API process of this run, or one after a gateway process of an older version.
    return undefined
  }
}

function hashesOf(env: Settings, except = needRestart): Record<string, string> {
  const entries = Object.entries(env).filter(([name, value]) => value !== undefined && !except.includes(name))
  return Object.fromEntries(entries.map(([name, value = '']) => [name, hash(value)]))
}

const hash = (text: string) => createHash('sha256').update(text).digest('base64')
