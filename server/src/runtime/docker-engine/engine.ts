import type Docker from 'dockerode'

/** What every verb works with. */
export interface Engine {
  readonly docker: Docker
  /** Name of this installation, on every label. */
  readonly instance: string
  /** Name of the bridge network that all containers are on. */
  readonly network: string
  /** Cores of the host; the engine refuses a container that asks for more. Set by `prepare`. */
  cores: number
}
