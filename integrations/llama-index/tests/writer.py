"""A process that writes to a chat: ``python writer.py PATH KEY NAME COUNT``."""

import sys

from llama_index.core.llms import ChatMessage
from llama_index.storage.chat_store.tokenmizer_mw import TokenMizerChatStore

path, key, name, count = sys.argv[1:]
store = TokenMizerChatStore(path)
for number in range(int(count)):
    store.add_message(key, ChatMessage(f"{name}:{number}"))
store.memory.close()
