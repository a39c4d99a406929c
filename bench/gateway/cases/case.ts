import type { Proxies } from '../proxies.ts'
import type { Row } from '../table.ts'

export interface Case {
  /** What `--only` names; several cases may share it. */
  readonly name: string
  run(proxies: Proxies, rounds: number): Promise<readonly Row[]>
  /** The same load at ours alone, for `--profile`. */
  profile?(proxies: Proxies): Promise<void>
}
