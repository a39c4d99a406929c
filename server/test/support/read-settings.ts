import assert from 'node:assert/strict'
import { readConfig, type Config } from '#/config/config.ts'

/** Reads settings as at a start; `files` are the only ones that there are. */
export const read = (env: Record<string, string>, files: Record<string, string> = {}) =>
  readConfig(env, (file) => {
    const text = files[file]
    if (text === undefined) throw new Error('no such file')
    return text
  })

/** The configuration of settings that have no problem. */
export const good = (env: Record<string, string>, files?: Record<string, string>): Config => {
  const { config, problems } = read(env, files)
  assert.deepEqual(problems, [])
  assert.ok(config)
  return config
}
