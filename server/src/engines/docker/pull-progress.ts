import type { PullProgress } from '#/engines/runtime-container.ts'

/** One line of the engine's answer to a pull. */
export interface PullLine {
  /** Docker's words: `Pulling fs layer`, `Downloading`, `Extracting`, `Pull complete`, `Already exists`... */
  readonly status?: string
  /** Which layer; on the first line the tag. */
  readonly id?: string
  /** Bytes, compressed, of the phase that `status` names; empty where nothing is counted. */
  readonly progressDetail?: { readonly current?: number; readonly total?: number }
  readonly error?: string
}

interface Layer {
  isDone: boolean
  bytesDone: number
  bytesTotal: number
}

/** Adds up what the engine says of each layer. Layers are unpacked one after the other, but come side by side. */
export class PullMeter {
  readonly #layers = new Map<string, Layer>()

  note({ status = '', id, progressDetail }: PullLine): void {
    if (id === undefined || status.startsWith('Pulling from')) return
    const layer = this.#layers.get(id) ?? { isDone: false, bytesDone: 0, bytesTotal: 0 }
    this.#layers.set(id, layer)
    const { current = 0, total = 0 } = progressDetail ?? {}
    if (status === 'Downloading' || status === 'Extracting') layer.bytesTotal = Math.max(total, current)
    // A layer that is unpacked has come whole; one that is tried again begins anew. Small ones come without any count.
    if (status === 'Downloading') layer.bytesDone = current
    else if (status.startsWith('Retrying')) layer.bytesDone = 0
    else if (hasCome.has(status)) layer.bytesDone = layer.bytesTotal
    layer.isDone = isComplete.has(status)
  }

  now(): PullProgress {
    const layers = [...this.#layers.values()]
    return {
      layersDone: layers.filter(({ isDone }) => isDone).length,
      layersTotal: layers.length,
      bytesDone: sum(layers.map(({ bytesDone }) => bytesDone)),
      bytesTotal: sum(layers.map(({ bytesTotal }) => bytesTotal)),
    }
  }
}

const hasCome = new Set(['Verifying Checksum', 'Download complete', 'Extracting', 'Pull complete'])
const isComplete = new Set(['Pull complete', 'Already exists'])

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)
