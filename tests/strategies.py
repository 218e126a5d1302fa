"""What hypothesis draws from."""

from hypothesis import strategies as st


def topic_sets(max_nodes: int = 9, max_topics: int = 8) -> st.SearchStrategy[list[set[int]]]:
    """The topics of each node of a small system; nodes without topics and topics of one node included."""
    topics = st.integers(1, max_topics).flatmap(
        lambda count: st.lists(st.sets(st.integers(0, count - 1)), max_size=max_nodes)
    )
    return topics
