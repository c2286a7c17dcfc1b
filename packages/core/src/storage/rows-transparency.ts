/** What makes the public log evident of tampering. */
export interface TransparencyTables {
  /** The tiles of the Merkle tree that are full. The hashes of one that is not are in the log, or the roots here. */
  tree_tiles: TreeTileRow
  signing_keys: SigningKeyRow
}

interface TreeTileRow {
  /** 0: its hashes are leaves; above, each is the root of a tile below. */
  level: number
  n: number
  /** The hash that the tile is in the level above. */
  root: Uint8Array
  /** 16 hashes, each above 16 of the tile's: a proof needs few others then. */
  middle: Uint8Array
  /** 256 hashes side by side. */
  hashes: Uint8Array
}

export interface SigningKeyRow {
  /** Counted from 1; the highest is the current one. */
  number: number
  /** PKCS#8, DER; null once the key signs no more. */
  private_key: Uint8Array | null
  /** The 32 bytes of RFC 8032. */
  public_key: Uint8Array
  created_at: number
  /** When it signs no more; null for the current one. */
  retires_at: number | null
}
