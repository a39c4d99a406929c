import { AccessLog, type AccessLogSettings } from './access-log.ts'

/** The access log of a gateway, as the present settings have it: on, off, or opened anew for rotation. */
export class AccessLogSwitch {
  readonly #report: (problem: string) => void
  #settings: AccessLogSettings | undefined
  #droppedBefore = 0
  /** Undefined while it is off: then a request costs a comparison. */
  current: AccessLog | undefined

  constructor(report: (problem: string) => void) {
    this.#report = report
  }

  /** Uses these settings, and opens the file anew. Where that fails, an open log goes on as it is. */
  use(settings: AccessLogSettings | undefined): void {
    this.#settings = settings
    this.reopen()
  }

  /** Opens the file anew, because it was renamed. */
  reopen(): void {
    const before = this.current
    try {
      this.current = this.#settings && AccessLog.open(this.#settings)
    } catch (error) {
      return this.#report(`ACCESS_LOG_FILE cannot be opened: ${(error as NodeJS.ErrnoException).code ?? 'it failed'}`)
    }
    this.#droppedBefore += before?.dropped ?? 0
    before?.close()
  }

  close(): void {
    this.current?.close()
    this.current = undefined
  }

  /** Numbers for `/metrics`, by name; none while it is off. */
  counts(): Readonly<Record<string, number>> {
    if (!this.current) return {}
    return { berth_gateway_access_log_dropped_total: this.#droppedBefore + this.current.dropped }
  }
}
