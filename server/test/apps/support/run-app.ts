import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { BrowserContext, Page } from 'playwright-core'
import { parse } from 'yaml'
import { startBerth, type Berth, type BerthOptions, type Lifetime, type Person } from '#test/support/berth.ts'
import { openTab } from '#test/support/browser.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { askEngine } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { watchTraffic, type Traffic } from './traffic.ts'

const docs = path.resolve(import.meta.dirname, '../../../../docs/how-to/run-applications.md')
const pictures = path.resolve(import.meta.dirname, '../../../../.berth/apps/pictures')

/** Fields of a template by their names in the configuration. */
export type Fields = Readonly<Record<string, unknown>>

/** A Berth whose types are one app in several settings, and Ann who has a container of each and looks at them in Chromium. */
export interface RunningApp {
  readonly berth: Berth
  readonly ann: Person
  readonly page: Page
  readonly context: BrowserContext
  /** Console errors and uncaught exceptions of all pages. */
  readonly problems: string[]
  /** Waits until the app answers, watches what follows and opens it. */
  open(type: string, rest?: string): Promise<Opened>
}

export interface Opened {
  /** With the slash at its end. */
  readonly home: string
  /** `/ann-{type}` */
  readonly prefix: string
  readonly traffic: Traffic
  /** Runs a shell's line in the container, as its user. @returns what it printed @throws {Error} when its status is not 0 */
  shell(line: string): Promise<string>
  /** Stops the container behind Berth's back, as an operator would, with no page of the app's left open. */
  stop(): Promise<void>
}

/** @returns the containers' ids by type. Before a page is open: each launch changes the machine's network, see below. */
async function launchAll(person: Person, types: readonly string[]): Promise<Record<string, string>> {
  for (const type of types) {
    const launched = await person.call('POST', `/api/container/launch/${type}`)
    assert.equal(launched.status, 200, launched.text)
  }
  const { containers } = (await person.call('GET', '/api/user/containers')).body as UserContainers
  return Object.fromEntries(containers.map(({ type, container_id }) => [type, container_id]))
}

interface UserContainers {
  readonly containers: readonly { readonly type: string; readonly container_id: string }[]
}

/**
 * Opens the address until nothing disturbed it. Chromium gives up what it is loading with ERR_NETWORK_CHANGED when an
 * interface appears on its machine, and here, where it runs beside the engine, every container brings one.
 */
async function openUndisturbed(page: Page, address: string, traffic: Traffic): Promise<void> {
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    traffic.clear()
    const refused = await page.goto(address, { waitUntil: 'networkidle' }).then(
      () => undefined,
      (error: Error) => error,
    )
    const isDisturbed = [refused?.message ?? '', ...traffic.failed].some((text) => text.includes('ERR_NETWORK_CHANGED'))
    if (refused && !isDisturbed) throw refused
    if (!isDisturbed) return
  }
  throw new Error(`the network changed five times while ${address} was opened`)
}

/** The template of a recipe, which docs/how-to/run-applications.md shows word by word; its image is one to be found in a registry. */
export function shownTemplate(app: string): Fields {
  const text = readFileSync(path.resolve(import.meta.dirname, '..', app, 'template.yaml'), 'utf8')
  assert.ok(
    readFileSync(docs, 'utf8').includes(text),
    `docs/how-to/run-applications.md shows another template than ${app}/template.yaml`,
  )
  const [fields] = Object.values(parse(text) as Record<string, Fields>)
  assert.ok(fields)
  return fields
}

/** Starts it all, on a machine that has the images; it ends with the test. */
export async function runApp(
  lifetime: Lifetime,
  image: string,
  types: Readonly<Record<string, Fields>>,
  { env, ...options }: Pick<BerthOptions, 'pace' | 'env'> = {},
): Promise<RunningApp> {
  const templates = Object.entries(types).map(([type, fields]) => [type, { ...fields, image }])
  const berth = await startBerth(lifetime, {
    ...options,
    env: { ...env, CONTAINER_TEMPLATES: JSON.stringify(Object.fromEntries(templates)) },
  })
  const { page, problems } = await openTab(lifetime)
  const context = page.context()
  const ann = await berth.signUp('ann@x.org')
  await context.addCookies([
    { name: 'spawner_token', value: ann.token, domain: '.berth.localhost', path: '/', httpOnly: true },
  ])
  page.setDefaultTimeout(30_000)
  const containers = await launchAll(ann, Object.keys(types))
  const open = async (type: string, rest = ''): Promise<Opened> => {
    const prefix = `/${ann.slug}-${type}`
    const home = `${berth.app.spawnerUrl}${prefix}/`
    await untilAnswers(ann, `${prefix}/${rest}`)
    const traffic = watchTraffic(context, home)
    await openUndisturbed(page, home + rest, traffic)
    const id = containers[type] ?? ''
    const stop = async () => {
      // An open page would find out, connect anew, and wake it.
      await page.goto('about:blank')
      await askEngine('POST', `/containers/${id}/stop`, { query: { t: '5' } })
    }
    return { home, prefix, traffic, shell: (line) => execInContainer(id, line), stop }
  }
  return { berth, ann, page, context, problems, open }
}

/** Until it is not the gateway that answers, at most a minute: code-server takes seconds to listen. */
async function untilAnswers(person: Person, target: string): Promise<void> {
  const limit = performance.now() + 60_000
  for (;;) {
    const { status, text } = await person.call('GET', target)
    if (status !== 502 && status !== 503) return
    assert.ok(performance.now() < limit, `the app did not answer within a minute: ${status} ${text.slice(0, 300)}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** What the list of ports says of one, once it is there: within a minute and a half. */
export async function portOnceListed(
  person: Person,
  type: string,
  port: number,
): Promise<{ readonly url: string; readonly is_loopback: boolean }> {
  let listed: { readonly url: string; readonly is_loopback: boolean } | undefined
  const isListed = async () => {
    const { ports } = (await person.call('GET', `/api/container/ports/${type}`)).body
    listed = ports.find((each: { port: number }) => each.port === port)
    return listed !== undefined
  }
  await pollUntil(isListed, () => `nothing listens at port ${port}`, 90_000)
  assert.ok(listed)
  return listed
}

/** Keeps what the person sees below `.berth/apps/pictures`. */
export async function takePicture(page: Page, name: string): Promise<void> {
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: path.join(pictures, `${name}.png`) })
}
