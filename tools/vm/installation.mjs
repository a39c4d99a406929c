import { once } from 'node:events'
import { script } from '../release/test/debian-machine.mjs'

/** @import { Vm } from './vm.mjs' */

/** In ms: a start of Berth, and of a container, of which emulation makes minutes. */
const startLimit = 600_000

/**
 * What a fact is about.
 * @typedef {object} Machine
 * @property {Vm} vm
 * @property {Installation} berth
 * @property {string} deb the package
 */

/**
 * A sentence, and what shows that it holds.
 * @typedef {readonly [what: string, show: (machine: Machine, t: import('node:test').TestContext) => Promise<unknown>]} Fact
 */

/** The package as it is installed on a machine, as one person uses it. */
export class Installation {
  #token = ''
  #person
  #base
  #client

  /**
   * @param {Vm} vm
   * @param {string} [person] whose mail address begins so
   * @param {string} [base] its address
   * @param {string} [client] what runs a command where Berth is used
   */
  constructor(vm, person = 'ann', base = 'http://127.0.0.1:8080', client = '') {
    this.vm = vm
    this.#person = person
    this.#base = base
    this.#client = client
  }

  /** The same, as another machine reaches it. @param {string} base @param {string} client */
  from(base, client) {
    const there = new Installation(this.vm, this.#person, base, client)
    there.#token = this.#token
    return there
  }

  /** The same, as another person uses it, signed in. @param {string} person */
  async as(person) {
    const other = new Installation(this.vm, person, this.#base, this.#client)
    const known = await this.vm.run('berth users list --json', { limitMs: startLimit })
    await other.enter(known.includes(other.address) ? 'login' : 'signup')
    return other
  }

  get address() {
    return `${this.#person}@x.org`
  }

  /** Until Berth serves. */
  async ready() {
    const ask = `${this.#client} curl --globoff --fail --silent --output /dev/null '${this.#base}/readyz'`
    await this.vm.until('Berth is ready', ask, startLimit)
  }

  /** Signs the person in; `signup` makes their account before, and their first container after. @param {'signup' | 'login'} first */
  async enter(first) {
    const command = `${this.#client} /usr/lib/berth/node --input-type=module - '${this.#base}' /var/lib/berth ${this.address} ${first}`
    const { token } = JSON.parse(await this.vm.run(command, { input: script('main-job.mjs'), limitMs: startLimit }))
    this.#token = token
  }

  /**
   * What the person is answered.
   * @param {string} path
   * @param {'GET' | 'POST'} [method]
   * @returns {Promise<{ status: number, body: string }>}
   */
  async call(path, method = 'GET') {
    const how = `--silent --show-error --max-time ${startLimit / 1000} --request ${method} --header @/dev/stdin --write-out '\\n%{http_code}'`
    const answer = await this.vm.run(`${this.#client} curl --globoff ${how} '${this.#base}${path}'`, {
      input: `authorization: Bearer ${this.#token}\n`,
      limitMs: startLimit,
    })
    const end = answer.lastIndexOf('\n')
    return { status: Number(answer.slice(end + 1)), body: answer.slice(0, end) }
  }

  /** @param {string} path @returns {Promise<number>} */
  async status(path) {
    return (await this.call(path)).status
  }

  /** Launches a container of theirs, until its address answers. @param {string} type @returns {Promise<string>} its page */
  async launch(type) {
    const { status, body } = await this.call(`/api/container/launch/${type}`, 'POST')
    if (status >= 300) throw new Error(`the launch of ${type} was answered ${status}: ${body}`)
    return this.answers(type)
  }

  /** What the card of a type says last, as the events of the dashboard have it. @param {string} type @returns {Promise<unknown>} */
  async cardOf(type) {
    const listen = `${this.#client} curl --globoff --silent --no-buffer --max-time 15 --header @/dev/stdin '${this.#base}/api/container/events' || true`
    const events = await this.vm.run(listen, { input: `authorization: Bearer ${this.#token}\n` })
    const launches = [...events.matchAll(/^event: launch\ndata: (.+)$/gm)].map(([, data = '']) => JSON.parse(data))
    return launches.findLast((data) => data.type === type)?.message
  }

  /** Until the address of a container answers. @param {string} type @returns {Promise<string>} its page */
  async answers(type) {
    for (const end = performance.now() + startLimit; ;) {
      const { status, body } = await this.call(`/${this.#person}-${type}/`)
      if (status === 200) return body
      if (performance.now() > end) throw new Error(`${type} is answered ${status}: ${body.slice(0, 500)}`)
    }
  }

  /**
   * Asks for the page of a container without end.
   * @param {string} type
   * @returns {Promise<() => Promise<string[]>>} ends it, with the status of each answer; `000` is none
   */
  async observe(type) {
    await this.vm.run('umask 077 && cat >/root/asking', { input: `authorization: Bearer ${this.#token}\n` })
    const ask = `curl --silent --output /dev/null --header @/root/asking --write-out '%{http_code}\\n' '${this.#base}/${this.#person}-${type}/'`
    const observer = this.vm.start(
      `until [ -e /root/seen ]; do ${ask}; sleep 0.2; done; rm /root/seen /root/asking`,
      '',
    )
    let said = ''
    observer.stdout?.on('data', (chunk) => (said += chunk))
    await once(observer.stdout ?? observer, 'data')
    return async () => {
      await Promise.all([once(observer, 'close'), this.vm.run('touch /root/seen')])
      return said.trim().split('\n')
    }
  }

  /** What `berth doctor` finds. @returns {Promise<{ level: string, check: string, what: string }[]>} */
  async findings() {
    return (await this.json('berth doctor --json')).findings
  }

  /** What a command prints as JSON, whatever its exit code is. @param {string} command @throws {Error} with its words, when it prints none */
  async json(command) {
    const printed = await this.vm.run(`${command} 2>/root/words || true`, { limitMs: 1_800_000 })
    try {
      return JSON.parse(printed)
    } catch {
      throw new Error(`${command} printed no JSON: ${printed}${await this.vm.run('cat /root/words')}`)
    }
  }

  /** Id of a container of theirs at the engine. @param {string} type */
  async id(type) {
    const ids = await this.vm.run(`docker ps --all --quiet --no-trunc --filter name='-${this.#person}-${type}$'`)
    return ids.trim()
  }

  /** Runs a shell command in one. @param {string} type @param {string} command without single quotes */
  async inContainer(type, command) {
    return this.vm.run(`docker exec ${await this.id(type)} sh -c '${command}'`)
  }

  /** A file of its control group. @param {string} type @param {string} name */
  async control(type, name) {
    const folder = `/sys/fs/cgroup/system.slice/docker-${await this.id(type)}.scope`
    return (await this.vm.run(`cat ${folder}/${name}`)).trim()
  }
}
