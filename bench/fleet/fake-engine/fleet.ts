import { createHash } from 'node:crypto'

/** Containers on one network: as many as Berth puts there. */
const perNetwork = 900

/** What an engine has when the bench begins; `seed.ts` writes it, the stand-in reads it. */
export interface Fleet {
  readonly installation: string
  readonly image: string
  /** Port on which every app listens, each at an address of its own. */
  readonly appPort: number
  /** People with a home; the n-th has the id n and the slug `person{n}`. */
  readonly people: number
  /** Fingerprints by person, from the first on; those who come after them have no container. */
  readonly fingerprints: readonly string[]
  /** The first so many containers run. */
  readonly running: number
}

/** The one type of container that everybody has. */
export const fleetType = 'dev'
export const slugOf = (person: number) => `person${person}`
export const emailOf = (person: number) => `${slugOf(person)}@fleet.test`

/** The engine's id of the n-th container that it ever had. */
export const containerIdOf = (number: number) => createHash('sha256').update(`fleet ${number}`).digest('hex')

/** Every container has an address of its own, all of them on this machine. */
export const addressOf = (number: number) => `127.${1 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`

export const networkOf = (installation: string, number: number) =>
  networkName(installation, Math.floor((number - 1) / perNetwork))

export const networkName = (installation: string, index: number) =>
  index === 0 ? installation : `${installation}-${index + 1}`

/** How many networks the fleet needs. */
export const networksFor = (containers: number) => Math.max(1, Math.ceil(containers / perNetwork))
