/** Port to the images of an engine that pulls them. */
export interface ImageStore {
  /** @param listener gets the name of each image that is pulled from now on, for which the engine had none; must not throw */
  onPulled(listener: (image: string) => void): void

  /** Bytes of those of these images that the engine has, by the given names. One question. @throws {RuntimeError} */
  sizesOf(images: readonly string[]): Promise<ReadonlyMap<string, number>>

  /**
   * Takes an image its name, and removes it with its last one.
   * @returns false when a container has it, of whichever program and also one that is stopped; then nothing was done
   * @throws {RuntimeError}
   */
  remove(image: string): Promise<boolean>
}
