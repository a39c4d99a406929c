import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { loadCore } from '../process.ts'
import { environment, programs, scratch } from '../programs.ts'

/** The result of a load. */
export interface Load {
  /** Requests, echoes or other units. */
  readonly units: number
  readonly seconds: number
}

export interface WrkOptions {
  readonly port: number
  /** Whether the proxy speaks TLS. */
  readonly isTls?: boolean
  readonly connections: number
  readonly seconds: number
  readonly heads: readonly string[]
  /** Whether each connection repeats one head, as a browser's does, or cycles through all. */
  readonly isShared?: boolean
  /** Length of the body after each head, in bytes. */
  readonly body?: number
}

/** Sends requests at the proxy's capacity. @throws {Error} when a status is not 2xx, or a connection breaks */
export async function wrk({
  port,
  isTls = false,
  connections,
  seconds,
  heads,
  isShared = false,
  body = 0,
}: WrkOptions): Promise<Load> {
  const file = path.join(scratch, 'load.lua')
  await writeFile(file, script(heads, isShared, body))
  // A connection does not know its number, but its thread does.
  const args = [
    '-t',
    String(isShared ? 1 : heads.length),
    '-c',
    String(connections),
    '-d',
    `${seconds}s`,
    '-s',
    file,
    `${isTls ? 'https' : 'http'}://127.0.0.1:${port}/`,
  ]
  const { stdout } = await promisify(execFile)('taskset', ['--cpu-list', String(loadCore), programs.wrk, ...args], {
    env: { ...process.env, ...environment },
    timeout: seconds * 1000 + 20_000,
  })
  const [units = 0, microseconds = 0, faults = 0] =
    /^figures (\d+) (\d+) (\d+)$/m.exec(stdout)?.slice(1).map(Number) ?? []
  if (units === 0 || faults > 0)
    throw new Error(
      `wrk counted ${units} answers and ${faults} faults; what the proxies say is in ${scratch}/*.log\n${stdout}`,
    )
  return { units, seconds: microseconds / 1e6 }
}

/** JSON strings are valid Lua strings here: they are ASCII. */
function script(heads: readonly string[], isShared: boolean, body: number): string {
  return `local heads = { ${heads.map((head) => JSON.stringify(head)).join(',\n')} }
local body = string.rep("x", ${body})
local threads = 0
function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end
local requests = {}
local turn = 0
function init()
  for index, head in ipairs(heads) do
    if ${isShared} or index == number then requests[#requests + 1] = head .. body end
  end
end
function request()
  turn = turn % #requests + 1
  return requests[turn]
end
function done(summary)
  local faults = summary.errors
  local sum = faults.connect + faults.read + faults.write + faults.status + faults.timeout
  print(string.format("figures %d %d %d", summary.requests, summary.duration, sum))
end
`
}
