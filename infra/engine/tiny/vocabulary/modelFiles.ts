// Makes the two files of the tiny model's directory: tokenizer.json and tokenizer_config.json.
import { CHAT_TEMPLATE } from './chatTemplate.ts';
import { corpus } from './corpus.ts';
import { byteAlphabet, learnMerges, PIECE_PATTERN } from './learnMerges.ts';

const MERGES = 215;
export const SPECIAL_TOKENS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>'] as const;

/** File name -> file text, deterministic: ids are bytes (0-255), then merges by rank, then special tokens. */
export function modelFiles(): Record<string, string> {
  const merges = learnMerges(corpus(), MERGES);
  const vocab: Record<string, number> = {};
  for (const symbol of byteAlphabet()) vocab[symbol] = Object.keys(vocab).length;
  // Two merges may spell one token ("a"+"bc", "ab"+"c"); it gets one id.
  for (const [left, right] of merges) {
    if (!(left + right in vocab)) vocab[left + right] = Object.keys(vocab).length;
  }
  const base = Object.keys(vocab).length;
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL_TOKENS.map((content, i) => ({
      id: base + i,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: null,
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: PIECE_PATTERN }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      vocab,
      merges: merges.map(([left, right]) => `${left} ${right}`),
    },
  };
  const config = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    model_max_length: 65536,
    bos_token: null,
    eos_token: '<|im_end|>',
    pad_token: '<|endoftext|>',
    unk_token: null,
    add_bos_token: false,
    clean_up_tokenization_spaces: false,
    chat_template: CHAT_TEMPLATE,
  };
  return {
    'tokenizer.json': `${JSON.stringify(tokenizer, null, 1)}\n`,
    'tokenizer_config.json': `${JSON.stringify(config, null, 1)}\n`,
  };
}
