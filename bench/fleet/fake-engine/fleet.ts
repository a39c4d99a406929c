import { createHash } from 'node:crypto'

/** Containers of one network: as many as Berth puts there. */
const perNetwork = 900

/** What an engine has at the start of the benchmark; `seed.ts` writes it, the fake engine reads it. */
export interface Fleet {
  readonly installation: string
  readonly image: string
  /** Port of every app, each at its own address. */
  readonly appPort: number
  /** Users with a home; the n-th has the id n and the slug `person{n}`. */
  readonly people: number
  /** Fingerprints by user, from the first on; later users have no container. */
  readonly fingerprints: readonly string[]
  /** Number of running containers, counted from the first. */
  readonly running: number
}

/** The one container type of all users. */
export const fleetType = 'dev'
export const slugOf = (person: number) => `person${person}`
export const emailOf = (person: number) => `${slugOf(person)}@fleet.test`

/** The engine's id of its n-th container. */
export const containerIdOf = (number: number) => createHash('sha256').update(`fleet ${number}`).digest('hex')

/** The uid of its n-th pod, in a cluster. */
export const podIdOf = (number: number) => uidOf(`fleet ${number}`)

/** A uid of the API's form, always the same of the same text. */
export const uidOf = (text: string) =>
  createHash('sha256')
    .update(text)
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')

/** Every container has its own address; all are addresses of this machine. */
export const addressOf = (number: number) => `127.${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`

export const networkOf = (installation: string, number: number) =>
  networkName(installation, Math.floor((number - 1) / perNetwork))

export const networkName = (installation: string, index: number) =>
  index === 0 ? installation : `${installation}-${index + 1}`

/** Number of networks that the fleet needs. */
export const networksFor = (containers: number) => Math.max(1, Math.ceil(containers / perNetwork))
