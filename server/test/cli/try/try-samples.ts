import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { stringify } from 'yaml'
import { askEngine } from '#test/support/engine/engine.ts'
import { resultOf, startCommand, type CommandResult } from '#test/support/command-line.ts'
import type { ChildProcess } from 'node:child_process'

const program = readFileSync(path.join(import.meta.dirname, 'sample-app.cjs'), 'utf8')

/** What `berth templates try --json` prints. */
export interface Report {
  readonly works: boolean
  readonly browser: string | null
  readonly attempts: readonly {
    readonly change: string
    readonly works: boolean
    readonly requests: number
    readonly sockets: number
    readonly clicks: number
    readonly findings: readonly { readonly level: string; readonly kind: string; readonly what: string }[]
  }[]
  readonly proposal: {
    readonly routing: string
    readonly templates: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  } | null
}

/** Starts the command for the sample application in one of its modes, in a folder of its own. */
export function startTrial(folder: string, mode: string, ...more: string[]): ChildProcess {
  const file = path.join(folder, 'templates.yaml')
  const template = {
    image: 'berth-demo-dev:latest',
    command: ['node', '-e', program],
    env: { MODE: mode },
    memory: '256m',
  }
  writeFileSync(file, stringify({ [mode]: template }))
  const settings = { DATA_DIR: path.join(folder, 'data'), TMPDIR: folder, HOME: folder, PATH: process.env.PATH ?? '' }
  return startCommand(settings, ['templates', 'try', mode, '--file', file, ...more])
}

/** Runs it to its end. */
export async function trial(
  folder: string,
  mode: string,
  ...more: string[]
): Promise<{ report: Report } & CommandResult> {
  const result = await resultOf(startTrial(folder, mode, '--json', ...more))
  return { ...result, report: JSON.parse(result.stdout || '{}') as Report }
}

/** Names of containers, networks and volumes that trials have left on the engine. @param pid of their process */
export async function leftovers(pid: number | undefined): Promise<string[]> {
  const containers = await askEngine<{ Names: string[] }[]>('GET', '/containers/json', { query: { all: 'true' } })
  const networks = await askEngine<{ Name: string }[]>('GET', '/networks')
  const { Volumes } = await askEngine<{ Volumes: { Name: string }[] | null }>('GET', '/volumes')
  const names = [
    ...containers.flatMap(({ Names }) => Names),
    ...networks.map(({ Name }) => Name),
    ...(Volumes ?? []).map(({ Name }) => Name),
  ]
  return names.filter((name) => name.includes(`try-${pid}-`))
}
