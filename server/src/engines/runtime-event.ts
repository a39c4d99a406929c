/** An event of the engine. */
export interface RuntimeEvent {
  /** Engine id of the container that changed; undefined: of all, or of none that is known. */
  readonly id: string | undefined
  readonly action:
    | 'start'
    | 'die' // the program ended, by itself or not; from now on its address may be another container's
    | 'pause'
    | 'unpause'
    | 'destroy' // the container is gone
    | 'oom' // the kernel killed a program in it; the container may live on
    | 'other' // created, renamed, about to stop...; without id: look at everything again
    | 'lost' // without id: the listener is blind from now on
  /** Of `destroy`: that it ran, and neither Berth nor its program ended it. */
  readonly isEvicted?: true
}
