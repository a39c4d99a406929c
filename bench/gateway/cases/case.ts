import type { Proxies } from '../proxies.ts'
import type { Row } from '../table.ts'

export interface Case {
  /** The name for `--only`; several cases may share it. */
  readonly name: string
  run(proxies: Proxies, rounds: number): Promise<readonly Row[]>
  /** The same load on our gateway alone, for `--profile`. */
  profile?(proxies: Proxies): Promise<void>
}
