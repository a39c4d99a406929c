import { buffer } from 'node:stream/consumers'
import type { HomeArchive } from '#/engines/home-archive.ts'
import type { AskEngine } from '../../support/engine/engine.ts'

/** A container of the installation under test, as the engine itself sees it. */
export interface Seen {
  readonly id: string
  readonly name: string
  readonly userId: number
  readonly slug: string
  readonly type: string
  readonly state: string
}

interface Listed {
  readonly Id: string
  readonly Names: readonly string[]
  readonly Labels: Readonly<Record<string, string>>
  readonly State: string
}

/** The engine, asked directly and not over the way that has faults; also changes to it that bypass Berth. */
export class EngineView {
  readonly #ask: AskEngine
  readonly #installation: string
  readonly #strangers: string[] = []
  readonly #archive: Pick<HomeArchive, 'read'>

  constructor(ask: AskEngine, installation: string, archive: Pick<HomeArchive, 'read'>) {
    this.#ask = ask
    this.#installation = installation
    this.#archive = archive
  }

  /** Every container with the installation's label. */
  async containers(): Promise<Seen[]> {
    const query = { all: 'true', filters: JSON.stringify({ label: [`berth.instance=${this.#installation}`] }) }
    const listed = await this.#ask<Listed[]>('GET', '/containers/json', { query })
    return listed.map(({ Id, Names, Labels, State }) => ({
      id: Id,
      name: (Names[0] ?? '').slice(1),
      userId: Number(Labels['berth.user_id']),
      slug: Labels['berth.slug'] ?? '',
      type: Labels['berth.type'] ?? '',
      state: State,
    }))
  }

  /**
   * Those that run. The list may still say so of a program that has just ended; each of them is inspected once more.
   */
  async running(): Promise<Seen[]> {
    const listed = (await this.containers()).filter(({ state }) => isAlive(state))
    const looks = listed.map(async (seen) => ((await this.#stateOf(seen.id)) ? [seen] : []))
    return (await Promise.all(looks)).flat()
  }

  async find(userId: number, type: string): Promise<Seen | undefined> {
    return (await this.containers()).find((seen) => seen.userId === userId && seen.type === type)
  }

  /** Names of the home volumes. */
  async homes(): Promise<string[]> {
    const query = { filters: JSON.stringify({ label: [`berth.instance=${this.#installation}`] }) }
    const { Volumes } = await this.#ask<{ Volumes: { Name: string }[] | null }>('GET', '/volumes', { query })
    return (Volumes ?? []).map(({ Name }) => Name)
  }

  /** A home as tar; undefined when it changes meanwhile or is gone. */
  async readHome(volume: string): Promise<Buffer | undefined> {
    return buffer(this.#archive.read(volume, AbortSignal.timeout(30_000))).catch(() => undefined)
  }

  /** Something that is done to a container without Berth; nothing, when it is gone already. */
  async act(what: BehindBack, { id, name }: Seen): Promise<void> {
    const gone = () => undefined
    if (what === 'remove') await this.#remove(id)
    else if (what === 'replace') {
      await this.#remove(id)
      await this.#plantStranger(name)
    } else if (what === 'rename')
      await this.#ask('POST', `/containers/${id}/rename`, { query: { name: `${name}-renamed` } }).catch(gone)
    else if (what === 'stop') await this.#ask('POST', `/containers/${id}/kill`).catch(gone)
    else await this.#ask('POST', `/containers/${id}/pause`).catch(gone)
  }

  /** Foreign containers that are not as they were planted. */
  async harmedStrangers(): Promise<string[]> {
    const looks = this.#strangers.map(async (id) => {
      const found = await this.#ask<{ State: { Status: string } }>('GET', `/containers/${id}/json`).catch(
        () => undefined,
      )
      return found?.State.Status === 'created' ? [] : [`a stranger's container ${id.slice(0, 12)} was touched`]
    })
    return (await Promise.all(looks)).flat()
  }

  async removeStrangers(): Promise<void> {
    for (const id of this.#strangers.splice(0)) await this.#remove(id)
  }

  async #plantStranger(name: string): Promise<void> {
    const { Image } = await this.#anyImage()
    const body = { Image, Cmd: ['/bin/sleep', '1000'] }
    const created = await this.#ask<{ Id: string }>('POST', '/containers/create', { query: { name }, body }).catch(
      () => undefined,
    )
    if (created) this.#strangers.push(created.Id)
  }

  async #anyImage(): Promise<{ Image: string }> {
    const images = await this.#ask<{ RepoTags: string[] | null }[]>('GET', '/images/json')
    const tag = images.flatMap(({ RepoTags }) => RepoTags ?? []).find((each) => each.startsWith('berth-test-web'))
    if (tag === undefined) throw new Error('the image for tests is gone')
    return { Image: tag }
  }

  async #remove(id: string): Promise<void> {
    await this.#ask('DELETE', `/containers/${id}`, { query: { force: 'true', v: 'true' } }).catch(() => undefined)
  }

  async #stateOf(id: string): Promise<boolean> {
    const found = await this.#ask<{ State: { Status: string } }>('GET', `/containers/${id}/json`).catch(() => undefined)
    return found !== undefined && isAlive(found.State.Status)
  }
}

/** What others do to our containers. `replace`: something that is not ours has its name afterwards. */
export const behindBack = ['remove', 'stop', 'pause', 'rename', 'replace'] as const
export type BehindBack = (typeof behindBack)[number]

const isAlive = (state: string) => state === 'running' || state === 'paused' || state === 'restarting'
