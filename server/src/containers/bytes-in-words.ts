const [MiB, GiB] = [1024 ** 2, 1024 ** 3]

/** A number of bytes as people read it: `312 MiB`, `1.5 GiB`. */
export const bytesInWords = (bytes: number) =>
  bytes >= GiB ? `${(bytes / GiB).toFixed(1)} GiB` : `${Math.round(bytes / MiB)} MiB`
