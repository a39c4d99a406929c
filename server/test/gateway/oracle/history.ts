/** Which app belonged to a prefix when, and what was shared. Time is a count of steps, so that "at the same time" cannot be a matter of rounding. */
export class History {
  #now = 0
  readonly #spans = new Map<string, Span[]>()

  /** A moment later than all before it. */
  tick(): number {
    return ++this.#now
  }

  /** From now on, until `settle`, both the app of before and the new one are right. @param label undefined for no app */
  begin(prefix: string, label: string | undefined): void {
    const spans = this.#spans.get(prefix) ?? []
    // The oldest are longer ago than any request takes.
    if (spans.length > 100) spans.splice(0, 50)
    spans.push({ label, from: this.tick(), to: Number.POSITIVE_INFINITY })
    this.#spans.set(prefix, spans)
  }

  /** The gateway has taken the change in: the app of before is wrong from now on. */
  settle(prefix: string): void {
    const to = this.tick()
    for (const span of (this.#spans.get(prefix) ?? []).slice(0, -1)) span.to = Math.min(span.to, to)
  }

  /** Whether the app was this prefix's at any moment between two. */
  wasRight(prefix: string, label: string, from: number, to: number): boolean {
    const spans = this.#spans.get(prefix) ?? []
    return spans.some((span) => span.label === label && span.from <= to && span.to >= from)
  }

  /** Everything that was right at any moment between two. */
  labelsBetween(name: string, from: number, to: number): string[] {
    const spans = this.#spans.get(name) ?? []
    return spans.flatMap(({ label, ...span }) =>
      label !== undefined && span.from <= to && span.to >= from ? [label] : [],
    )
  }

  /** What the prefix's apps were, for a report. */
  shown(prefix: string): string {
    const spans = this.#spans.get(prefix) ?? []
    return spans
      .slice(-6)
      .map(({ label, from, to }) => `${label ?? 'none'} ${from}-${to}`)
      .join(', ')
  }
}

interface Span {
  readonly label: string | undefined
  readonly from: number
  to: number
}
