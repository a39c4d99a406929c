import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lifetime } from '../../server/test/support/berth.ts'
import { browserNetwork } from '../../server/test/support/browser-network.ts'

/**
 * A tab of a headless Chromium that nothing observes while a page works. Playwright receives each event of each request and
 * navigation, which took 24 ms of CPU time of the machine in a launch of 300 ms; a user has no such listener. Chromium's own
 * protocol is spoken here, over pipes, and no domain of it is enabled, so that no event is sent.
 */
export interface QuietTab {
  /** Resolves when the document is there; what it loads may not be. */
  visit(address: string): Promise<void>
  /** @param expression is evaluated in the page, and its promise awaited. @throws {Error} what it throws */
  evaluate<T>(expression: string): Promise<T>
  /** Asks ten times a second until the expression is true. @throws {Error} after 20 s */
  until(expression: string): Promise<void>
  /** Presses and releases the button of the mouse over an element, as a person does. @param element an expression for it */
  click(element: string): Promise<void>
  /** A command of Chromium's protocol. @throws {Error} when Chromium refuses it, or does not answer within 20 s */
  command<T>(method: string, params?: object): Promise<T>
}

interface Answer {
  readonly id?: number
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** In ms. */
const answerTimeout = 20_000
const installed = process.env.CHROMIUM ?? '/usr/bin/chromium'
const options = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--window-size=1280,800',
  '--remote-debugging-pipe',
]

/** Chromium and its folder end with the lifetime. */
export async function openQuietTab(lifetime: Lifetime): Promise<QuietTab> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-bench-chromium-'))
  const network = await browserNetwork(installed)
  const child = spawn(
    network.executablePath,
    [...options, `--user-data-dir=${folder}`, ...network.args, 'about:blank'],
    {
      env: { ...process.env, ...network.env },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    },
  )
  lifetime.after(async () => {
    const ended = once(child, 'exit')
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await ended
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  const [, , , commands, answers] = child.stdio as unknown as [null, null, null, Writable, Readable]
  const send = commandsOver(commands, answers)
  const { targetId } = await send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' })
  const { sessionId } = await send<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true })
  return tabOf((method, params = {}) => send(method, params, sessionId))
}

type Send = <T>(method: string, params?: object, sessionId?: string) => Promise<T>

/** Messages are JSON, each ended by a zero byte. */
function commandsOver(commands: Writable, answers: Readable): Send {
  const waiting = new Map<number, (answer: Answer) => void>()
  let [text, last] = ['', 0]
  answers.setEncoding('utf8').on('data', (chunk: string) => {
    const messages = (text + chunk).split('\0')
    text = messages.pop() ?? ''
    for (const message of messages) {
      const answer = JSON.parse(message) as Answer
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
    }
  })
  return async <T>(method: string, params: object = {}, sessionId?: string): Promise<T> => {
    const id = ++last
    const answered = new Promise<Answer>((resolve) => void waiting.set(id, resolve))
    commands.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    const limit = new AbortController()
    const late = sleep(answerTimeout, { error: { message: 'no answer' } }, limit)
    const { result, error } = await Promise.race([answered, late as Promise<Answer>])
    limit.abort()
    late.catch(() => undefined)
    waiting.delete(id)
    if (error) throw new Error(`${method}: ${error.message}`)
    return result as T
  }
}

function tabOf(command: QuietTab['command']): QuietTab {
  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await command<{
      result: { value: T }
      exceptionDetails?: { text: string; exception?: { description?: string } }
    }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  const until = async (expression: string) => {
    for (const end = performance.now() + answerTimeout; ; await sleep(100)) {
      // Between two documents there is nothing to ask.
      if (await evaluate<boolean>(expression).catch(() => false)) return
      if (performance.now() > end)
        throw new Error(`not within ${answerTimeout} ms at ${await evaluate('location.href')}: ${expression}`)
    }
  }
  const click = async (element: string) => {
    const box = `(() => {
      const element = ${element}
      element.scrollIntoView({ block: 'center', behavior: 'instant' })
      const { x, y, width, height } = element.getBoundingClientRect()
      return [x + width / 2, y + height / 2]
    })()`
    const [x, y] = await evaluate<[number, number]>(box)
    const mouse = { x, y, button: 'left', clickCount: 1 }
    await command('Input.dispatchMouseEvent', { ...mouse, type: 'mouseMoved', button: 'none' })
    // Pressed and released without waiting for what the page does between them.
    const pressed = command('Input.dispatchMouseEvent', { ...mouse, type: 'mousePressed' })
    await Promise.all([pressed, command('Input.dispatchMouseEvent', { ...mouse, type: 'mouseReleased' })])
  }
  const visit = async (address: string) => {
    const { errorText } = await command<{ errorText?: string }>('Page.navigate', { url: address })
    if (errorText) throw new Error(`${address}: ${errorText}`)
  }
  return { visit, evaluate, until, click, command }
}
