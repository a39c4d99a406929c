/**
 * What an engine can do beyond what every engine does. Policy asks before it relies on it, so that no adapter has to
 * imitate another engine.
 */
export interface RuntimeCapabilities {
  /**
   * Whether a container whose program ended stays, and can be started again. Otherwise a container runs from its creation
   * on, a stop removes it, and one whose program ended by itself stays only until the next launch, for its exit code and
   * its output.
   */
  readonly keepsStopped: boolean
  /** Whether a program can be frozen with its memory. */
  readonly pauses: boolean
  /** Whether `usage` has an answer. */
  readonly reportsUsage: boolean
  /** Whether `measureHomes` has an answer. */
  readonly measuresHomes: boolean
  /** Whether the engine has images of its own that can be asked for: their ids, and the port that they expose. */
  readonly hasImages: boolean
  /** Whether containers run on nodes that a template can choose from (`ContainerSpec.cluster`). */
  readonly hasNodes: boolean
  /** Whether containers can have folders and devices of the machine that the engine runs on. */
  readonly mountsHostPaths: boolean
  /** Whether files can be put into a container before it is started (`containerFiles`). */
  readonly putsFiles: boolean
  /** Whether homes can be read and written while their containers do not run (`homeContents`). */
  readonly readsHomes: boolean
}
