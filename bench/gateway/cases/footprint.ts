import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../../figures.ts'
import { upgradeHead } from '../load/heads.ts'
import { loadCore, message, type Started } from '../process.ts'
import { script, type Target } from '../proxies.ts'
import { residentSize } from '../usage.ts'
import { talking, routeCount } from '../routes.ts'
import type { Case } from './case.ts'

/** The footprint of our gateway without traffic: with its routes, with open connections, and at a route change. */
export const memoryCase: Case = {
  name: 'memory',
  async run(proxies) {
    const ours = await proxies.freshOurs()
    const few = await proxies.freshOurs({ routes: 10 })
    // Time for the garbage of the start to be collected, as in a new installation.
    await sleep(2_000)
    const [all, none] = [residentSize(ours.pid) / 1024, residentSize(few.pid) / 1024]
    await Promise.all([ours.end(), few.end()])
    const title = `memory with ${routeCount.toLocaleString('en')} routes, against ours with 10`
    return [
      { title, ours: `${all.toFixed(0)} MB`, peer: `${none.toFixed(0)} MB`, goal: 'under 100 MB', isMet: all < 100 },
    ]
  },
}

const idleCount = 5_000

export const idleCase: Case = {
  name: 'idle',
  async run(proxies) {
    const [ours, peer] = [await proxies.freshOurs(), await proxies.haproxy('no check')]
    const [each, eachOfPeer] = [await perIdle(ours), await perIdle(peer)]
    await ours.end()
    return [
      {
        title: `${idleCount.toLocaleString('en')} idle WebSockets, against HAProxy`,
        ours: `${each.toFixed(1)} KB each`,
        peer: `${eachOfPeer.toFixed(1)} KB each`,
        goal: 'under 20 KB',
        isMet: each < 20,
      },
    ]
  },
}

async function perIdle(target: Target): Promise<number> {
  const before = residentSize(target.pid)
  const idle = holdOpen(target, idleCount)
  try {
    await message(idle)
    await sleep(2_000)
    return (residentSize(target.pid) - before) / idleCount
  } finally {
    await idle.end()
  }
}

const changes = 1_000

export const changeCase: Case = {
  name: 'change',
  async run(proxies) {
    const ours = await proxies.freshOurs()
    const idle = holdOpen(ours, 200)
    const { open: before } = await message<{ open: number }>(idle)
    const took = await askOurs<number[]>(ours, { changes })
    const { open: after } = await askOurs<{ open: number }>(idle, {})
    await Promise.all([idle.end(), ours.end()])
    const slowest = took.toSorted((a, b) => a - b)[Math.floor(changes * 0.99)] ?? NaN
    return [
      {
        title: `one change of a route among ${routeCount.toLocaleString('en')}, median and p99`,
        ours: `${median(took).toFixed(3)}, ${slowest.toFixed(3)} ms`,
        goal: 'under 1 ms',
        isMet: slowest < 1,
      },
      {
        title: `connections cut by ${changes.toLocaleString('en')} changes, of ${before}`,
        ours: String(before - after),
        goal: 'none',
        isMet: before === after,
      },
    ]
  },
}

function holdOpen({ port, tokens }: Target, count: number): Started {
  const heads = JSON.stringify(talking.map((route) => upgradeHead(route, tokens)))
  return script('load/idle', loadCore, [String(port), String(count), heads])
}

async function askOurs<T>(started: Started, question: object): Promise<T> {
  const answer = message<T>(started)
  started.child.send(question)
  return answer
}
